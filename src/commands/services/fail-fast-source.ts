import { type ClusterError, type ClusterErrorCode, describeError } from '../../cluster/errors.ts';
import type { Kind } from '../../cluster/kinds.ts';
import type { ServerReport } from '../../cluster/server-report.ts';
import type { ProblemListener, Source, SourceEvent, SourceHealth } from '../../cluster/source.ts';
import { CommandError } from '../command-error.ts';
import { needsPerson } from '../problem-digest.ts';

/** The first may be a token that is replaced at once, or a server that is just restarting. */
const ENOUGH = 2;

/** Who waits long is told what for. */
const HEALS: ReadonlySet<ClusterErrorCode> = new Set<ClusterErrorCode>([
  'CLUSTER_CONNECTION_LOST',
  'CLUSTER_STALLED',
  'CLUSTER_GONE',
]);

/**
 * For commands that ask once: what no waiting helps against is their error, and not one of many
 * warnings. `run` and `--watch` go on instead.
 */
export class FailFastSource implements Source {
  readonly #source: Source;
  readonly #failed = Promise.withResolvers<never>();

  /** `open` gets the listener that the source has to tell its problems. */
  constructor(open: (onProblem: ProblemListener) => Source, onProblem: ProblemListener) {
    const counts = new Map<Kind | undefined, number>();
    this.#failed.promise.catch(() => undefined);
    this.#source = open((problem, kind) => {
      if (HEALS.has(problem.code)) return;
      if (!isFutile(problem)) return onProblem(problem, kind);
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      if (count >= ENOUGH) this.#failed.reject(failure(problem));
    });
  }

  /** Rejects when it is futile to wait. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  async run(onEvent: (event: SourceEvent) => void, signal: AbortSignal): Promise<void> {
    await this.#source.run(onEvent, signal);
  }

  health(): readonly SourceHealth[] {
    return this.#source.health();
  }

  server(): ServerReport {
    return this.#source.server?.() ?? { gaps: [] };
  }
}

function isFutile(problem: ClusterError): boolean {
  const { code } = problem;
  return needsPerson(problem) || code === 'CLUSTER_UNREACHABLE' || code === 'CLUSTER_TIMEOUT';
}

function failure(problem: ClusterError): CommandError {
  const { code, next } = problem;
  return new CommandError(describeError(problem), { code, next, cause: problem });
}
