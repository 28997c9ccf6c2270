import { type Cidr, contains, formatCidr, parseCidrs } from '../addresses/cidr.ts';
import { canonicalIp, parseIp } from '../addresses/ip.ts';
import type { SliceObject } from '../cluster/objects.ts';
import { type Claims, nodePortClaim } from './claims.ts';
import { endpointKey } from './endpoints.ts';
import { HostPorts, UNKNOWN_HOST } from './host-ports.ts';
import type { Frontend, NodeView, NotServed, ServicePortId } from './model.ts';
import type { Entry } from './register.ts';
import { externalIpsOf } from './service-ports.ts';

interface Known {
  readonly entries: Set<Entry>;
  /** The Service CIDR that contains it. */
  readonly range: string | undefined;
}

/**
 * The external IPs of all Services. Anyone who may edit a Service may set any address there, so
 * strict rules protect the addresses of the cluster, the API server and the machine.
 */
export class ExternalIps {
  #host = new HostPorts(UNKNOWN_HOST);
  #apiServers: ReadonlyMap<string, string> = new Map();
  #ranges: readonly Cidr[] = [];
  #isStrict = true;
  readonly #byAddress = new Map<string, Known>();
  readonly #addressesOf = new Map<Entry, readonly string[]>();

  get host(): HostPorts {
    return this.#host;
  }

  /** Whether the rules apply to the Service. */
  concerns(entry: Entry): boolean {
    return this.#isStrict && this.#addressesOf.has(entry);
  }

  /** Every Service must be added again afterwards. */
  setView({ addressRules, serviceRanges }: NodeView): void {
    this.#isStrict = addressRules === 'strict';
    this.#ranges = parseCidrs(serviceRanges);
    this.#byAddress.clear();
    this.#addressesOf.clear();
  }

  put(entry: Entry, view: NodeView): void {
    this.#forget(entry);
    const addresses = entry.service ? externalIpsOf(entry.service, view) : [];
    if (addresses.length === 0) return;
    this.#addressesOf.set(entry, addresses);
    for (const address of addresses) this.#at(address).entries.add(entry);
  }

  /** Returns the Services whose external IPs may have changed. */
  setHost(host: HostPorts): ReadonlySet<Entry> {
    const before = this.#host;
    this.#host = host;
    const affected = new Set<Entry>();
    for (const address of host.addressesUnlike(before)) this.#collect(address, affected);
    const ports = host.portsUnlike(before);
    if (ports.size === 0) return affected;
    for (const address of host.addresses()) {
      for (const entry of this.#byAddress.get(address)?.entries ?? []) {
        if (entry.service?.ports.some(({ port }) => ports.has(port))) affected.add(entry);
      }
    }
    return affected;
  }

  /** Sets the `address:port` list of the API server; returns the affected Services. */
  setApiServers(servers: ReadonlyMap<string, string>): ReadonlySet<Entry> {
    const before = this.#apiServers;
    this.#apiServers = servers;
    const affected = new Set<Entry>();
    for (const [key, address] of [...before, ...servers]) {
      if (before.has(key) !== servers.has(key)) this.#collect(address, affected);
    }
    return affected;
  }

  /** Why an external IP is not served; undefined: no objection. */
  notServed(
    claimed: { readonly id: ServicePortId; readonly frontend: Frontend },
    claims: Claims,
  ): NotServed | undefined {
    const { id, frontend } = claimed;
    const { address, port } = frontend;
    const range = this.#byAddress.get(address)?.range;
    if (range !== undefined) return { reason: 'service-range', range };
    const service = `${id.namespace}/${id.service}`;
    const isApiServer = id.protocol === 'TCP' && this.#apiServers.has(endpointKey(frontend));
    // The Service of the API server may have any address.
    if (isApiServer && service !== API_SERVER) return { reason: 'api-server' };
    if (!this.#host.has(address)) return undefined;
    if (this.#host.isHeld(id, { address, port })) return { reason: 'host-socket' };
    const owner = claims.winner(nodePortClaim(id, port));
    if (owner === undefined || owner.service === service) return undefined;
    return { reason: 'other-service', service: owner.service };
  }

  #collect(address: string, into: Set<Entry>): void {
    for (const entry of this.#byAddress.get(address)?.entries ?? []) into.add(entry);
  }

  #at(address: string): Known {
    const known = this.#byAddress.get(address);
    if (known !== undefined) return known;
    const ip = parseIp(address);
    const range = ip && this.#ranges.find((each) => contains(each, ip));
    const made = { entries: new Set<Entry>(), range: range && formatCidr(range) };
    this.#byAddress.set(address, made);
    return made;
  }

  #forget(entry: Entry): void {
    for (const address of this.#addressesOf.get(entry) ?? []) {
      const known = this.#byAddress.get(address);
      known?.entries.delete(entry);
      if (known?.entries.size === 0) this.#byAddress.delete(address);
    }
    this.#addressesOf.delete(entry);
  }
}

/** The Service of the API server. Its endpoints are the addresses of the API server. */
export const API_SERVER = 'default/kubernetes';

/** Every `address:port` of its slices, ready or not. */
export function apiServerAddresses(slices: readonly SliceObject[]): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  for (const { ports, endpoints } of slices) {
    for (const { port } of ports) {
      for (const endpoint of endpoints) {
        const address = canonicalIp(endpoint.address);
        if (address === undefined || port === undefined) continue;
        addresses.set(endpointKey({ address, port }), address);
      }
    }
  }
  return addresses;
}
