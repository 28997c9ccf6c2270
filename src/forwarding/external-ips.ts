import { type Cidr, contains, formatCidr, parseCidrs } from '../addresses/cidr.ts';
import { parseIp } from '../addresses/ip.ts';
import { API_SERVER } from './api-servers.ts';
import { type Claims, nodePortClaim } from './claims.ts';
import { endpointKey } from './endpoints.ts';
import { HostPorts, UNKNOWN_HOST } from './host-ports.ts';
import type { Frontend, NodeView, NotServed, ServicePortId } from './model.ts';
import type { Entry } from './register.ts';
import { externalIpsOf } from './service-ports.ts';

interface Known {
  readonly entries: Set<Entry>;
  /** The Service range that it lies in. */
  readonly range: string | undefined;
}

/**
 * The external IPs of all Services. Whoever may write a Service may write any address there, so
 * with strict rules none of them takes what belongs to the cluster, the API server or the machine.
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

  /** Whether the rules have something to say about the Service. */
  concerns(entry: Entry): boolean {
    return this.#isStrict && this.#addressesOf.has(entry);
  }

  /** After it every Service must be put again. */
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

  /** Gives the Services of which something may be served, or not, that was otherwise before. */
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

  /** Addresses at which the API server listens, by `address:port`; gives the Services concerned. */
  setApiServers(servers: ReadonlyMap<string, string>): ReadonlySet<Entry> {
    const before = this.#apiServers;
    this.#apiServers = servers;
    const affected = new Set<Entry>();
    for (const [key, address] of [...before, ...servers]) {
      if (before.has(key) !== servers.has(key)) this.#collect(address, affected);
    }
    return affected;
  }

  /** Why the external IP of a Service is not served; undefined: it is, as far as it is up to this. */
  refusal(
    of: { readonly id: ServicePortId; readonly frontend: Frontend },
    claims: Claims,
  ): NotServed | undefined {
    const { id, frontend } = of;
    const { address, port } = frontend;
    const range = this.#byAddress.get(address)?.range;
    if (range !== undefined) return { reason: 'service-range', range };
    const service = `${id.namespace}/${id.service}`;
    const isApiServer = id.protocol === 'TCP' && this.#apiServers.has(endpointKey(frontend));
    // Its own owner may put it at any address.
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
