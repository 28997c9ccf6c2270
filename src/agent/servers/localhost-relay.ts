import type { NodeFacts } from '../../dataplanes/contract.ts';
import {
  type Endpoint,
  type Family,
  type Forwarding,
  type ServicePortKey,
  servicePortKey,
  servicePortName,
} from '../../forwarding/model.ts';
import type { Change } from '../../forwarding/table.ts';
import type { Random } from '../../time/retry-delay.ts';
import type { Acknowledged, AgentObserver } from '../observer.ts';
import { keepServing } from './keep-serving.ts';
import { openRelay, type RelaySlots } from './relay-connection.ts';
import type { ServerProblemListener } from './server-error.ts';

export interface LocalhostRelayOptions {
  readonly facts: () => Pick<NodeFacts, 'relayedLocalhost'>;
  /** Called once, at the first sync; later the agent reports changes. */
  readonly rows: () => Iterable<Forwarding>;
  readonly slots: RelaySlots;
  readonly monotonicMs: () => number;
  readonly random?: Random;
  /** Called for the first failure of each port; retries are silent until one succeeds. */
  readonly onListenFailure: ServerProblemListener;
  readonly onProblem: (error: Error) => void;
  readonly retryAfterMs?: (failureCount: number) => number;
}

/** For metrics. */
export interface RelayCounts {
  readonly listeners: Readonly<Record<Family, number>>;
  readonly listenFailures: Readonly<Record<Family, number>>;
}

interface WantedPort {
  readonly owner: ServicePortKey;
  /** `namespace/name:port`. */
  readonly name: string;
  readonly family: Family;
  readonly port: number;
  readonly route: RelayRoute;
}

interface OpenPort {
  readonly target: RelayTarget;
  readonly family: Family;
  readonly serving: Promise<void>;
  readonly controller: AbortController;
  isListening: boolean;
}

const LOOPBACK: Readonly<Record<Family, string>> = { IPv4: '127.0.0.1', IPv6: '::1' };
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/**
 * Serves TCP node ports on loopback where packets to it cannot be forwarded: the kernel drops what
 * leaves with a loopback source address. As kube-proxy does with the feature gate
 * KubeProxyNFTablesLocalhostNodePorts, it listens on 127.0.0.1 and ::1 and copies bytes.
 */
export class LocalhostRelay implements AgentObserver {
  readonly #options: LocalhostRelayOptions;
  /** By family and port. */
  readonly #wanted = new Map<string, WantedPort>();
  /** A change does not always name the row as it was: after a rejected write that is unknown. */
  readonly #keysOfRow = new Map<ServicePortKey, readonly string[]>();
  readonly #open = new Map<string, OpenPort>();
  /** Ports that are being closed. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #listenFailures: Record<Family, number> = { IPv4: 0, IPv6: 0 };
  /** Empty before the first sync. */
  #families: readonly Family[] = [];
  #isClosed = false;

  constructor(options: LocalhostRelayOptions) {
    this.#options = options;
  }

  counts(): RelayCounts {
    const listeners: Record<Family, number> = { IPv4: 0, IPv6: 0 };
    for (const { family, isListening } of this.#open.values()) if (isListening) listeners[family]++;
    return { listeners, listenFailures: { ...this.#listenFailures } };
  }

  onFirstSync(): void {
    for (const row of this.#options.rows()) this.#want(row);
    this.onConfigured(this.#options.facts());
  }

  onConfigured({ relayedLocalhost = [] }: Pick<NodeFacts, 'relayedLocalhost'>): void {
    this.#families = relayedLocalhost;
    for (const key of new Set([...this.#wanted.keys(), ...this.#open.keys()])) this.#settle(key);
  }

  onAcknowledged({ changes }: Pick<Acknowledged, 'changes'>): void {
    const touched = new Set<string>();
    for (const change of changes) for (const key of this.#take(change)) touched.add(key);
    for (const key of touched) this.#settle(key);
  }

  /** Closes all ports and connections. */
  close(): void {
    this.#isClosed = true;
    for (const key of [...this.#open.keys()]) this.#settle(key);
  }

  /** Another row may take over a port before the removal of this one is reported. */
  #take({ key: owner, after }: Change): string[] {
    const former = this.#keysOfRow.get(owner) ?? [];
    const lost = former.filter((key) => this.#wanted.get(key)?.owner === owner);
    for (const key of lost) this.#wanted.delete(key);
    this.#keysOfRow.delete(owner);
    return after === undefined ? lost : [...lost, ...this.#want(after)];
  }

  #want(row: Forwarding): string[] {
    const ports = portsOf(row);
    for (const { key, wanted } of ports) this.#wanted.set(key, wanted);
    const keys = ports.map(({ key }) => key);
    if (keys.length > 0) this.#keysOfRow.set(servicePortKey(row.id), keys);
    return keys;
  }

  #settle(key: string): void {
    const wanted = this.#isClosed ? undefined : this.#wanted.get(key);
    const open = this.#open.get(key);
    const isWanted = wanted !== undefined && this.#families.includes(wanted.family);
    if (!isWanted) {
      if (open) this.#end(key, open);
    } else if (open) open.target.take(wanted.route);
    else this.#open.set(key, this.#begin(key, wanted));
  }

  #end(key: string, { serving, controller }: OpenPort): void {
    this.#open.delete(key);
    this.#leaving.set(key, serving);
    controller.abort();
    const left = serving.then(() => {
      if (this.#leaving.get(key) === serving) this.#leaving.delete(key);
    });
    left.catch(this.#options.onProblem);
  }

  #begin(key: string, { name, family, port, route }: WantedPort): OpenPort {
    const { monotonicMs, slots, random = Math.random, onListenFailure } = this.#options;
    const target = new RelayTarget(route, random);
    const controller = new AbortController();
    let isTold = false;
    const ip = LOOPBACK[family];
    const serving = keepServing(
      {
        where: `${ip} port ${port} (node port of ${name})`,
        open: async () => {
          await this.#leaving.get(key);
          const place = { ip, port, ipv6Only: family === 'IPv6' };
          return await openRelay(place, { slots, pick: () => target.pick(monotonicMs()) });
        },
        onOpen: () => {
          open.isListening = true;
          isTold = false;
        },
        onProblem: (error) => {
          open.isListening = false;
          this.#listenFailures[family]++;
          if (!isTold) onListenFailure(error);
          isTold = true;
        },
        retryAfterMs: this.#options.retryAfterMs ?? retryLater,
      },
      controller.signal,
    );
    const open: OpenPort = { target, family, serving, controller, isListening: false };
    return open;
  }
}

function retryLater(failureCount: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (failureCount - 1), LONGEST_RETRY_MS);
}

/** Without an endpoint there is no listener: the kernel rejects the connections. */
function portsOf(row: Forwarding): { key: string; wanted: WantedPort }[] {
  if (row.id.protocol !== 'TCP') return [];
  const { family } = row.id;
  return row.frontends.flatMap(({ kind, port, outcomes, notServed }) => {
    if (kind !== 'node-port' || notServed !== undefined) return [];
    // As kube-proxy: with an external traffic policy Local, loopback gets local endpoints too.
    const { outside } = outcomes;
    if (outside.action !== 'forward') return [];
    const endpoints = outside.list === 'local' ? row.localEndpoints : row.clusterEndpoints;
    const route = { endpoints, affinitySeconds: row.affinitySeconds };
    const name = servicePortName(row.id);
    const wanted = { owner: servicePortKey(row.id), name, family, port, route };
    return [{ key: `${family} ${port}`, wanted }];
  });
}

/** The endpoints of one node port on loopback. */
interface RelayRoute {
  readonly endpoints: readonly Endpoint[];
  /** 0: no session affinity. */
  readonly affinitySeconds: number;
}

/**
 * Chooses an endpoint for each connection. All clients on loopback have one address, so with
 * session affinity all share one endpoint until none has connected for the timeout.
 */
export class RelayTarget {
  readonly #random: Random;
  #route: RelayRoute;
  #kept: { readonly endpoint: Endpoint; usedAtMs: number } | undefined;

  constructor(route: RelayRoute, random: Random) {
    this.#route = route;
    this.#random = random;
  }

  take(route: RelayRoute): void {
    if (route.affinitySeconds !== this.#route.affinitySeconds) this.#kept = undefined;
    this.#route = route;
  }

  pick(nowMs: number): Endpoint | undefined {
    const { endpoints, affinitySeconds } = this.#route;
    const kept = this.#stillKept(nowMs);
    const endpoint = kept ?? endpoints[Math.floor(this.#random() * endpoints.length)];
    this.#kept = affinitySeconds > 0 && endpoint ? { endpoint, usedAtMs: nowMs } : undefined;
    return endpoint;
  }

  #stillKept(nowMs: number): Endpoint | undefined {
    const kept = this.#kept;
    const { endpoints, affinitySeconds } = this.#route;
    if (kept === undefined || nowMs - kept.usedAtMs > affinitySeconds * 1000) return undefined;
    return endpoints.find(
      ({ address, port }) => address === kept.endpoint.address && port === kept.endpoint.port,
    );
  }
}
