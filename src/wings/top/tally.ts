import type { FrontendOwners } from '../../flows/owners.ts';
import type { ServicePortKey } from '../../forwarding/model.ts';
import { type AddressBytes, addressText } from '../../linux/conntrack/address-bytes.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';

/** Clients beyond these are counted with their Service, and not by themselves. */
const MOST_CLIENTS = 65_536;

interface ClientCount {
  count: number;
  readonly services: Map<ServicePortKey, number>;
}

export interface CountedClient {
  readonly client: string;
  readonly count: number;
  readonly services: ReadonlyMap<ServicePortKey, number>;
}

/** Flows of Services, counted by Service, endpoint and client. */
export class Tally {
  readonly #owners: FrontendOwners;
  /** Where flows lead that are only handed over to a process, which knows the endpoint. */
  readonly #handedOverTo: ReadonlySet<AddressBytes>;
  readonly #services = new Map<ServicePortKey, number>();
  readonly #endpoints = new Map<ServicePortKey, Map<string, number>>();
  readonly #clients = new Map<AddressBytes, ClientCount>();
  #count = 0;
  #leftOutClients = false;

  constructor(owners: FrontendOwners, handedOverTo: ReadonlySet<AddressBytes> = new Set()) {
    this.#owners = owners;
    this.#handedOverTo = handedOverTo;
  }

  /** Flows of no Service are not counted. */
  add(flow: Flow): void {
    const service = this.#owners.of(flow);
    if (service === undefined) return;
    this.#count += 1;
    increase(this.#services, service);
    const { reply, original } = flow;
    if (!this.#handedOverTo.has(reply.source)) {
      const endpoints = this.#endpoints.get(service) ?? new Map<string, number>();
      this.#endpoints.set(service, endpoints);
      increase(endpoints, reply.source + String.fromCharCode(reply.sourcePort));
    }
    this.#addClient(original.source, service);
  }

  get count(): number {
    return this.#count;
  }

  /** Whether there were more clients than are kept apart. */
  get hasMoreClients(): boolean {
    return this.#leftOutClients;
  }

  services(): ReadonlyMap<ServicePortKey, number> {
    return this.#services;
  }

  /** Endpoints as the planes write them: `10.0.0.1:80`, `[fd00::1]:80`. */
  endpointsOf(service: ServicePortKey): ReadonlyMap<string, number> {
    const found = this.#endpoints.get(service) ?? new Map<string, number>();
    return new Map([...found].map(([key, count]) => [endpointText(key), count]));
  }

  clients(): CountedClient[] {
    return [...this.#clients].map(([bytes, { count, services }]) => ({
      client: addressText(bytes),
      count,
      services,
    }));
  }

  #addClient(source: AddressBytes, service: ServicePortKey): void {
    let client = this.#clients.get(source);
    if (client === undefined) {
      if (this.#clients.size >= MOST_CLIENTS) {
        this.#leftOutClients = true;
        return;
      }
      client = { count: 0, services: new Map() };
      this.#clients.set(source, client);
    }
    client.count += 1;
    increase(client.services, service);
  }
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function endpointText(key: string): string {
  const address = addressText(key.slice(0, -1));
  const host = address.includes(':') ? `[${address}]` : address;
  return `${host}:${key.charCodeAt(key.length - 1)}`;
}
