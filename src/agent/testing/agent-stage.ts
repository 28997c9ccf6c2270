import type { Kind } from '../../cluster/object-kinds.ts';
import type { NodeObject, ServiceObject, SliceObject } from '../../cluster/objects.ts';
import type { Source, SourceEvent, SourceHealth } from '../../cluster/source.ts';
import type { ModeNeeds } from '../../config/modes.ts';
import { equalForwarding } from '../../forwarding/equal.ts';
import { servicePortKey } from '../../forwarding/model.ts';
import { SILENT_LOGGER } from '../../log/testing/silent-logger.ts';
import type { Clock } from '../../time/clock.ts';
import { Agent, type AgentOptions } from '../agent.ts';
import type { AgentSettings } from '../agent-settings.ts';
import type { MachineAddresses } from '../machine-addresses.ts';
import { FakePlane } from './fake-plane.ts';

export const KINDS: readonly Kind[] = ['service', 'slice', 'node', 'serviceCidr'];

/** As of a mode that acts on packets. */
export const NO_NEEDS: ModeNeeds = { ownAddresses: false, namespaces: false };

export const SETTINGS: AgentSettings = {
  nodeObject: 'expected',
  localTraffic: { by: 'ClusterCIDR', cidrs: ['10.0.0.0/8', 'fd00::/16'] },
  podNetworks: ['10.0.0.0/8', 'fd00::/16'],
  addressRules: 'strict',
  nodePorts: { addresses: 'all', onLocalhost: false },
  clients: 'everybody',
  servedAddresses: { allClusterIPs: true, externalIPs: true, loadBalancerIPs: true },
  serviceRanges: [],
  clusterDns: [],
  masquerade: { all: false, markBit: 14 },
  syncPeriodMs: 30_000,
  features: {
    serviceExternalIps: true,
    flagzPage: false,
    statuszPage: false,
    localhostNodePorts: false,
  },
};

export const NODE: NodeObject = {
  name: 'here',
  zone: 'zone-a',
  addresses: ['172.30.1.1', 'fd00:30::1'],
  podCIDRs: ['10.1.0.0/24', 'fd00:1::/64'],
  deleting: false,
  taintKeys: [],
};

/** A source that reports what a test passes to it. */
class ToldSource implements Source {
  isConnected = true;
  #onEvent: ((event: SourceEvent) => void) | undefined;

  async run(onEvent: (event: SourceEvent) => void, signal: AbortSignal): Promise<void> {
    this.#onEvent = onEvent;
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }

  health(): readonly SourceHealth[] {
    const { isConnected: connected } = this;
    return KINDS.map((kind) => ({ kind, connected, lastHeardAtMs: 1, skippedCount: 0 }));
  }

  tell(...events: SourceEvent[]): void {
    for (const event of events) this.#onEvent?.(event);
  }

  synced(...kinds: Kind[]): void {
    this.tell(...kinds.map((kind) => ({ kind, type: 'synced' }) as const));
  }

  service(object: ServiceObject): void {
    const key = `${object.namespace}/${object.name}`;
    this.tell({ kind: 'service', type: 'put', key, object });
  }

  slice(object: SliceObject): void {
    const key = `${object.namespace}/${object.name}`;
    this.tell({ kind: 'slice', type: 'put', key, object });
  }

  node(object: NodeObject): void {
    this.tell({ kind: 'node', type: 'put', key: object.name, object });
  }

  gone(kind: Kind, key: string): void {
    this.tell({ kind, type: 'delete', key });
  }
}

/** Addresses of a machine that a test changes. */
class ToldAddresses implements MachineAddresses {
  tell: (addresses: readonly string[]) => void = () => undefined;

  async run(onChange: (addresses: readonly string[]) => void, signal: AbortSignal): Promise<void> {
    this.tell = onChange;
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
}

/** An agent between a source and a plane that a test holds in its hands. */
export class Stage implements AsyncDisposable {
  readonly plane = new FakePlane();
  readonly source = new ToldSource();
  readonly addresses = new ToldAddresses();
  readonly agent: Agent;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(clock: Clock, more: Partial<AgentOptions> = {}) {
    const { plane, source, addresses } = this;
    this.agent = new Agent({
      plane,
      source,
      addresses,
      settings: SETTINGS,
      needs: NO_NEEDS,
      nodeName: 'here',
      clock,
      log: SILENT_LOGGER,
      ...more,
    });
  }

  start(): this {
    this.#running = this.agent.run(this.#stop.signal);
    return this;
  }

  /** The agent has received all lists, and that they are complete. */
  complete(): void {
    this.source.node(NODE);
    this.source.synced(...KINDS);
  }

  /** Whether the kernel is what the cluster wants. */
  isEqual(): boolean {
    const { rows, facts } = this.agent.desired();
    const wanted = new Map(Array.from(rows, (row) => [servicePortKey(row.id), row]));
    const { kernel } = this.plane;
    const isThere = wanted.entries().every(([key, row]) => equalForwarding(kernel.get(key), row));
    return isThere && kernel.size === wanted.size && this.plane.facts === facts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}
