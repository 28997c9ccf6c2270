import type { SourceEvent } from '../../../cluster/source.ts';
import type { PodName } from '../port-forward/handshake.ts';

interface Entry {
  readonly addresses: readonly string[];
  readonly claims: readonly { readonly address: string; readonly claim: Claim }[];
}

/** What a slice says of an address. */
interface Claim {
  readonly pod: PodName;
  /** Undefined: every port. */
  readonly ports: ReadonlySet<number> | undefined;
}

/**
 * Addresses of Services and pods, from the events of the source. Several slices may have a pod, so
 * an address goes with the last object that has it.
 */
export class PodDirectory {
  readonly #entries = new Map<string, Entry>();
  /** By address, then by slice; the newest last. */
  readonly #claims = new Map<string, Map<string, Claim>>();
  readonly #uses = new Map<string, number>();
  readonly #onAddress: (address: string, isPresent: boolean) => void;
  /** Names of Services with their ClusterIPs: `namespace/name`. */
  readonly #services = new Map<string, readonly string[]>();
  /** How many Services each has: a question for a name must not ask all of them. */
  readonly #namespaces = new Map<string, number>();

  /** Called when an address appears, and when it goes. */
  constructor(onAddress: (address: string, isPresent: boolean) => void) {
    this.#onAddress = onAddress;
  }

  take(event: SourceEvent): void {
    if (event.type === 'synced' || (event.kind !== 'slice' && event.kind !== 'service')) return;
    const key = `${event.kind} ${event.key}`;
    const before = this.#entries.get(key);
    const entry = entryOf(event);
    if (event.kind === 'service') this.#takeService(event);
    if (entry === undefined) this.#entries.delete(key);
    else this.#entries.set(key, entry);
    for (const { address } of before?.claims ?? []) this.#forget(address, key);
    for (const { address, claim } of entry?.claims ?? []) this.#claim(address, key, claim);
    // The new ones first: an address that stays is not reported as gone.
    for (const address of entry?.addresses ?? []) this.#count(address, 1);
    for (const address of before?.addresses ?? []) this.#count(address, -1);
  }

  /**
   * Undefined: no Service has a pod at this address and port. Disputed: slices of several namespaces
   * name a pod of theirs there. Whoever may write slices in one namespace must not get the connections
   * to the pods of another; pods with their node's address have ports of their own.
   */
  podAt(address: string, port: number): PodName | 'disputed' | undefined {
    let found: PodName | undefined;
    for (const { pod, ports } of this.#claims.get(address)?.values() ?? []) {
      if (ports !== undefined && !ports.has(port)) continue;
      if (found !== undefined && found.namespace !== pod.namespace) return 'disputed';
      found = pod;
    }
    return found;
  }

  /** The addresses of `namespace/name`; undefined: there is no such Service. */
  service(name: string): readonly string[] | undefined {
    return this.#services.get(name);
  }

  hasNamespace(namespace: string): boolean {
    return this.#namespaces.has(namespace);
  }

  #takeService(event: Exclude<SourceEvent, { type: 'synced' }> & { kind: 'service' }): void {
    const [namespace = ''] = event.key.split('/');
    const count =
      (this.#namespaces.get(namespace) ?? 0) - (this.#services.delete(event.key) ? 1 : 0);
    if (event.type === 'put') this.#services.set(event.key, event.object.clusterIPs);
    const now = count + (event.type === 'put' ? 1 : 0);
    if (now === 0) this.#namespaces.delete(namespace);
    else this.#namespaces.set(namespace, now);
  }

  #claim(address: string, slice: string, claim: Claim): void {
    const claims = this.#claims.get(address) ?? new Map<string, Claim>();
    this.#claims.set(address, claims.set(slice, claim));
  }

  #forget(address: string, slice: string): void {
    const claims = this.#claims.get(address);
    claims?.delete(slice);
    if (claims?.size === 0) this.#claims.delete(address);
  }

  #count(address: string, by: 1 | -1): void {
    const uses = (this.#uses.get(address) ?? 0) + by;
    if (uses === 0) {
      this.#uses.delete(address);
      this.#onAddress(address, false);
      return;
    }
    this.#uses.set(address, uses);
    if (by === 1 && uses === 1) this.#onAddress(address, true);
  }
}

function entryOf(event: SourceEvent): Entry | undefined {
  if (event.type !== 'put') return undefined;
  if (event.kind === 'service') return { addresses: event.object.clusterIPs, claims: [] };
  if (event.kind !== 'slice' || event.object.addressType === 'FQDN') return undefined;
  const { namespace, endpoints, ports: listed } = event.object;
  const ports = listed.some(({ port }) => port === undefined)
    ? undefined
    : new Set(listed.flatMap(({ port }) => port ?? []));
  const claims = endpoints.flatMap(({ address, podName }) =>
    podName === undefined ? [] : [{ address, claim: { pod: { namespace, name: podName }, ports } }],
  );
  return { addresses: claims.map(({ address }) => address), claims };
}
