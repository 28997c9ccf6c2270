import {
  type ClusterError,
  type ClusterErrorCode,
  describeError,
} from '../../cluster/cluster-error.ts';
import type { Kind } from '../../cluster/object-kinds.ts';
import type { ServerReport } from '../../cluster/server-report.ts';
import type { ProblemListener, Source, SourceEvent, SourceHealth } from '../../cluster/source.ts';
import { CommandError } from '../command-error.ts';
import { needsPerson } from '../problem-digest.ts';

/**
 * Occurrences before failing: the first may be a token that is being renewed, or a restarting
 * server.
 */
const ENOUGH = 2;

/** Transient problems; not reported. */
const HEALS: ReadonlySet<ClusterErrorCode> = new Set<ClusterErrorCode>([
  'CLUSTER_CONNECTION_LOST',
  'CLUSTER_STALLED',
  'CLUSTER_GONE',
]);

/**
 * For one-shot commands: a problem that retries cannot fix fails the command instead of being one
 * of many warnings. `run` and `--watch` keep retrying.
 */
export class FailFastSource implements Source {
  readonly #source: Source;
  readonly #failed = Promise.withResolvers<never>();

  /** `open` gets the problem listener for the source. */
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

  /** Rejects when waiting is pointless. */
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
