import type { NodeFacts } from '../../dataplanes/contract.ts';
import { FAMILIES, type Family } from '../../forwarding/model.ts';
import type { ServiceHealthCheck } from '../health-checks.ts';
import type { AgentObserver } from '../observer.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import { openHttpServer } from './http.ts';
import { keepServing } from './keep-serving.ts';
import type { Place } from './open-server.ts';
import { type Handler, jsonReply, type Reply } from './reply.ts';
import type { ServerError, ServerProblemListener } from './server-error.ts';

export interface ServiceHealthOptions {
  /** Called once, at the first sync; later the agent reports changes. */
  readonly facts: () => Pick<NodeFacts, 'nodePortAddresses'>;
  /** Whether the proxy is healthy; removal of the node does not matter here. */
  readonly isHealthy: () => boolean;
  readonly budget: ConnectionBudget;
  /** Called for the first failure of each port; retries are silent until one succeeds. */
  readonly onListenFailure: (failure: ServiceListenFailure) => void;
  readonly onProblem: ServerProblemListener;
  readonly retryAfterMs?: (failureCount: number) => number;
}

export interface ServiceListenFailure {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly error: ServerError;
}

interface Listener {
  /** `namespace/name`. */
  readonly service: string;
  readonly family: Family;
  readonly place: Extract<Place, { ip: string }>;
}

interface OpenListener {
  readonly listener: Listener;
  readonly serving: Promise<void>;
  readonly controller: AbortController;
}

const OK = 200;
const UNAVAILABLE = 503;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/**
 * One server per Service with a health check node port and family: shows load balancers whether
 * this node has endpoints. Independent of the other servers.
 */
export class ServiceHealthServers implements AgentObserver {
  readonly #options: ServiceHealthOptions;
  readonly #checks = new Map<string, ServiceHealthCheck>();
  /** By Service, then by address and port. */
  readonly #open = new Map<string, Map<string, OpenListener>>();
  /** Ports that are being closed, by address and port. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Undefined before the first sync: until then load balancers must not reach it. */
  #addresses: NodeFacts['nodePortAddresses'] | undefined;
  #isClosed = false;

  constructor(options: ServiceHealthOptions) {
    this.#options = options;
  }

  onHealthCheck(service: string, check: ServiceHealthCheck | undefined): void {
    if (this.#isClosed) return;
    if (check === undefined) this.#checks.delete(service);
    else this.#checks.set(service, check);
    this.#settle(service);
  }

  onFirstSync(): void {
    this.onConfigured(this.#options.facts());
  }

  onConfigured(facts: Pick<NodeFacts, 'nodePortAddresses'>): void {
    if (this.#isClosed) return;
    this.#addresses = facts.nodePortAddresses;
    for (const service of this.#checks.keys()) this.#settle(service);
  }

  /** Closes all ports. */
  close(): void {
    this.#isClosed = true;
    this.#checks.clear();
    for (const service of [...this.#open.keys()]) this.#settle(service);
  }

  /** Closes old ports of a Service, then opens new ones. */
  #settle(service: string): void {
    const check = this.#checks.get(service);
    const wanted = listenersOf(check, this.#addresses);
    const open = this.#open.get(service) ?? new Map<string, OpenListener>();
    for (const [place, listener] of [...open]) {
      if (wanted.has(place)) continue;
      open.delete(place);
      this.#end(place, listener);
    }
    for (const [place, listener] of wanted) {
      if (!open.has(place)) open.set(place, this.#begin(place, listener));
    }
    if (open.size === 0) this.#open.delete(service);
    else this.#open.set(service, open);
  }

  #end(place: string, { serving, controller }: OpenListener): void {
    this.#leaving.set(place, serving);
    controller.abort();
    const left = serving.then(() => {
      if (this.#leaving.get(place) === serving) this.#leaving.delete(place);
    });
    left.catch(this.#options.onProblem);
  }

  #begin(placeKey: string, listener: Listener): OpenListener {
    const { service, place } = listener;
    const { onListenFailure, onProblem, budget, retryAfterMs } = this.#options;
    const controller = new AbortController();
    let isTold = false;
    const serving = keepServing(
      {
        where: `${placeKey} (health of ${service})`,
        open: async () => {
          // Another Service may have used the port until now.
          await this.#leaving.get(placeKey);
          const handler = this.#answerOf(listener);
          return await openHttpServer(place, { handler, budget, onProblem });
        },
        onOpen: () => {
          isTold = false;
        },
        onProblem: (error) => {
          const [namespace = '', name = ''] = service.split('/', 2);
          if (!isTold) onListenFailure({ namespace, name, port: place.port, error });
          isTold = true;
        },
        retryAfterMs: retryAfterMs ?? retryLater,
      },
      controller.signal,
    );
    return { listener, serving, controller };
  }

  #answerOf({ service, family }: Listener): Handler {
    return () => {
      const check = this.#checks.get(service);
      const localEndpoints = check?.localEndpoints[family] ?? 0;
      const isHealthy = this.#options.isHealthy();
      return serviceHealthReply({ service, localEndpoints, isHealthy });
    };
  }
}

function retryLater(failureCount: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (failureCount - 1), LONGEST_RETRY_MS);
}

function listenersOf(
  check: ServiceHealthCheck | undefined,
  addresses: NodeFacts['nodePortAddresses'] | undefined,
): Map<string, Listener> {
  const listeners = new Map<string, Listener>();
  if (check === undefined || addresses === undefined) return listeners;
  const service = `${check.namespace}/${check.name}`;
  for (const family of FAMILIES) {
    if (check.localEndpoints[family] === undefined) continue;
    for (const ip of ipsOf(family, addresses[family])) {
      // IPv4 has a listener of its own, with a count of its own.
      const place = { ip, port: check.port, ipv6Only: family === 'IPv6' };
      listeners.set(`${ip} port ${check.port}`, { service, family, place });
    }
  }
  return listeners;
}

function ipsOf(family: Family, addresses: 'all' | readonly string[]): readonly string[] {
  if (addresses !== 'all') return addresses;
  return family === 'IPv4' ? ['0.0.0.0'] : ['::'];
}

interface ServiceState {
  readonly service: string;
  readonly localEndpoints: number;
  readonly isHealthy: boolean;
}

/** kube-proxy's response, byte for byte. */
function serviceHealthReply({ service, localEndpoints, isHealthy }: ServiceState): Reply {
  const [namespace, name] = service.split('/', 2);
  const state = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: isHealthy };
  const isGood = localEndpoints > 0 && isHealthy;
  const reply = jsonReply(isGood ? OK : UNAVAILABLE, JSON.stringify(state, null, '\t'));
  const weight = { 'X-Load-Balancing-Endpoint-Weight': String(localEndpoints) };
  return { ...reply, headers: { ...reply.headers, ...weight } };
}
