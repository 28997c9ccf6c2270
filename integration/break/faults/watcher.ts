import { abortable } from '../../../lab/host/interruption.ts';
import type { Dial } from '../../../src/cluster/api-socket.ts';
import { ApiSource } from '../../../src/cluster/api-source.ts';
import type { ClusterError } from '../../../src/cluster/cluster-error.ts';
import { loadKubeconfig } from '../../../src/cluster/kubeconfig/load-kubeconfig.ts';
import { Observation } from '../../../src/commands/services/observe-source.ts';
import { unknownNode } from '../../../src/forwarding/testing/unknown-node.ts';

export interface WatcherOptions {
  readonly kubeconfig: string;
  readonly dial?: Dial;
  /** Instead of the one in the kubeconfig. */
  readonly server?: string;
}

const COMPLETE_DEADLINE_MS = 60_000;

/** The part under test: a source with the times it has in production, and the model it feeds. */
export class Watcher implements AsyncDisposable {
  readonly observation = new Observation(unknownNode('node1'));
  readonly #options: WatcherOptions;
  readonly #problems = new Set<string>();
  readonly #lifetime = new AbortController();
  #following: Promise<void> = Promise.resolve();

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  /** Resolves when the model is complete for the first time. */
  async start(): Promise<void> {
    const { kubeconfig, server, dial } = this.#options;
    const access = await loadKubeconfig({
      files: [kubeconfig],
      ...(server === undefined ? {} : { server }),
    });
    const source = new ApiSource({
      connection: { access, ...(dial === undefined ? {} : { dial }) },
      nodeName: 'node1',
      onProblem: (problem) => this.#problems.add(nameOf(problem)),
    });
    this.#following = this.observation.follow(source, this.#lifetime.signal);
    const late = AbortSignal.timeout(COMPLETE_DEADLINE_MS);
    await abortable(Promise.race([this.observation.complete, this.#following]), late);
  }

  /** What the source detected, so that a fault without effect does not count as survived. */
  problems(): string[] {
    return [...this.#problems].sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lifetime.abort();
    await this.#following;
  }
}

function nameOf(problem: ClusterError): string {
  return problem.status === undefined ? problem.code : `${problem.code} ${problem.status}`;
}
