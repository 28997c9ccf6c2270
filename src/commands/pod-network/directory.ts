import type { PodName } from '../../cluster/portforward/handshake.ts';
import type { SourceEvent } from '../../cluster/source.ts';

interface Entry {
  readonly addresses: readonly string[];
  readonly pods: readonly { readonly address: string; readonly pod: PodName }[];
}

/**
 * Addresses of Services and pods, from the events of the source. Several slices may have a pod, so
 * an address goes with the last object that has it.
 */
export class PodDirectory {
  readonly #entries = new Map<string, Entry>();
  readonly #pods = new Map<string, PodName>();
  readonly #uses = new Map<string, number>();
  readonly #onAddress: (address: string, isPresent: boolean) => void;
  /** Names of Services with their ClusterIPs: `namespace/name`. */
  readonly #services = new Map<string, readonly string[]>();

  /** Called when an address appears, and when it goes. */
  constructor(onAddress: (address: string, isPresent: boolean) => void) {
    this.#onAddress = onAddress;
  }

  take(event: SourceEvent): void {
    if (event.type === 'synced' || (event.kind !== 'slice' && event.kind !== 'service')) return;
    const key = `${event.kind} ${event.key}`;
    const before = this.#entries.get(key);
    const entry = entryOf(event);
    if (event.kind === 'service') {
      if (event.type === 'put') this.#services.set(event.key, event.object.clusterIPs);
      else this.#services.delete(event.key);
    }
    if (entry === undefined) this.#entries.delete(key);
    else this.#entries.set(key, entry);
    // The new ones first: an address that stays is not reported as gone.
    for (const { address, pod } of entry?.pods ?? []) this.#pods.set(address, pod);
    for (const address of entry?.addresses ?? []) this.#count(address, 1);
    for (const address of before?.addresses ?? []) this.#count(address, -1);
  }

  /** Undefined: the address is that of no pod that a Service has. */
  podAt(address: string): PodName | undefined {
    return this.#pods.get(address);
  }

  /** The addresses of `namespace/name`; undefined: there is no such Service. */
  service(name: string): readonly string[] | undefined {
    return this.#services.get(name);
  }

  hasNamespace(namespace: string): boolean {
    for (const name of this.#services.keys()) if (name.startsWith(`${namespace}/`)) return true;
    return false;
  }

  #count(address: string, by: 1 | -1): void {
    const uses = (this.#uses.get(address) ?? 0) + by;
    if (uses === 0) {
      this.#uses.delete(address);
      this.#pods.delete(address);
      this.#onAddress(address, false);
      return;
    }
    this.#uses.set(address, uses);
    if (by === 1 && uses === 1) this.#onAddress(address, true);
  }
}

function entryOf(event: SourceEvent): Entry | undefined {
  if (event.type !== 'put') return undefined;
  if (event.kind === 'service') return { addresses: event.object.clusterIPs, pods: [] };
  if (event.kind !== 'slice' || event.object.addressType === 'FQDN') return undefined;
  const { namespace, endpoints } = event.object;
  const pods = endpoints.flatMap(({ address, podName }) =>
    podName === undefined ? [] : [{ address, pod: { namespace, name: podName } }],
  );
  return { addresses: pods.map(({ address }) => address), pods };
}
