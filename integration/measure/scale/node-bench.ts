import { type LoadSize, loadObjects } from '../../../lab/load/objects.ts';
import { Agent } from '../../../src/agent/agent.ts';
import type { AgentSettings } from '../../../src/agent/agent-settings.ts';
import type { Acknowledged, AgentObserver } from '../../../src/agent/observer.ts';
import { SETTINGS as USUAL_SETTINGS } from '../../../src/agent/testing/agent-stage.ts';
import { openLog } from '../../../src/commands/run/stream-logger.ts';
import { traitsOf } from '../../../src/config/modes.ts';
import { NftablesPlane } from '../../../src/dataplanes/nftables/nftables-plane.ts';
import { enterOwnNetwork } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { ToldSource } from './told-source.ts';
import { type SendWatch, watchedSockets } from './watched-netlink.ts';

const POD_RANGES = ['10.128.0.0/9', 'fd00:128::/32'];
const SETTINGS: AgentSettings = {
  ...USUAL_SETTINGS,
  localTraffic: { by: 'ClusterCIDR', cidrs: POD_RANGES },
  podNetworks: POD_RANGES,
};

export interface NodeBenchOptions extends SendWatch {
  readonly size: LoadSize;
  /** Told each object before the agent is; what is kept of them counts against the collector. */
  readonly onObject?: (kind: 'service' | 'slice', raw: object) => void;
  /** Told of everything that the agent does. */
  readonly observers?: readonly AgentObserver[];
}

/**
 * The agent and the nftables plane over a real kernel, in a network namespace of its own. The
 * caller delivers the cluster: everything from a line of the watch on, without an API server.
 */
export class NodeBench implements AsyncDisposable {
  readonly source = new ToldSource();
  readonly agent: Agent;
  readonly plane: NftablesPlane;
  readonly #options: NodeBenchOptions;
  readonly #lifetime = new AbortController();
  readonly #firstSync = Promise.withResolvers<number>();
  #running: Promise<void> | undefined;
  #acknowledged: ((acknowledged: Acknowledged) => void) | undefined;

  constructor(options: NodeBenchOptions) {
    this.#options = options;
    this.plane = new NftablesPlane({ openNetlink: watchedSockets(options) });
    this.agent = new Agent({
      plane: this.plane,
      source: this.source,
      addresses: { run: async () => await untilAborted(this.#lifetime.signal) },
      settings: SETTINGS,
      needs: traitsOf('nftables').needs,
      nodeName: 'node1',
      clock: systemClock,
      log: openLog({ format: 'json', verbosity: 0 }).log,
      observers: [
        {
          onFirstSync: () => this.#firstSync.resolve(performance.now()),
          onAcknowledged: (acknowledged) => this.#acknowledged?.(acknowledged),
        },
        ...(options.observers ?? []),
      ],
    });
  }

  /** Tells the whole cluster; nothing is written yet. The thread stays in the new namespace. */
  async tell(): Promise<void> {
    enterOwnNetwork();
    this.#running = this.agent.run(this.#lifetime.signal);
    for (const { key, value } of loadObjects(this.#options.size)) {
      const kind = kindOf(key);
      if (kind === undefined) continue;
      this.#options.onObject?.(kind, value);
      this.source.put(kind, value);
    }
  }

  /** Says that this is all, and gives how long it took until the kernel had it. */
  async coldStartMs(): Promise<number> {
    const startedAtMs = performance.now();
    this.source.complete();
    return (await this.#firstSync.promise) - startedAtMs;
  }

  /** Does something that changes one Service, and gives what the kernel then acknowledges. */
  async change(change: () => void): Promise<Acknowledged> {
    const { promise, resolve } = Promise.withResolvers<Acknowledged>();
    this.#acknowledged = resolve;
    change();
    return await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lifetime.abort();
    await this.#running;
  }
}

function kindOf(key: string): 'service' | 'slice' | undefined {
  if (key.startsWith('/registry/services/')) return 'service';
  return key.startsWith('/registry/endpointslices/') ? 'slice' : undefined;
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
