import { KeptRows } from './kept-rows.ts';
import { FAMILIES, type Family, type NodeView } from './model.ts';
import type { Entry } from './register.ts';

interface Kept {
  readonly rows: Readonly<Record<Family, KeptRows>>;
  size: number;
}

/**
 * Which Services are cached: the large ones that changed last. Compiling a small one is as fast as
 * a lookup.
 */
export class KeptServices {
  readonly #mostThings: number;
  /** Most recently changed last. */
  readonly #kept = new Map<Entry, Kept>();
  #size = 0;

  /** Limit of items (endpoints, ports), about 200 bytes each. */
  constructor(mostThings = 262_144) {
    this.#mostThings = mostThings;
  }

  /** Undefined: a small Service, not cached. */
  of(entry: Entry, view: NodeView): Readonly<Record<Family, KeptRows>> | undefined {
    if (!isLarge(entry)) {
      this.drop(entry);
      return undefined;
    }
    const known = this.#kept.get(entry);
    if (known !== undefined) return known.rows;
    const rows = { IPv4: new KeptRows('IPv4', view), IPv6: new KeptRows('IPv6', view) };
    this.#kept.set(entry, { rows, size: 0 });
    return rows;
  }

  /** Updates the count of a Service, and evicts. */
  compiled(entry: Entry): void {
    const kept = this.#kept.get(entry);
    if (kept === undefined) return;
    const size = FAMILIES.reduce((sum, family) => sum + kept.rows[family].size, 0);
    this.drop(entry);
    if (size > this.#mostThings) return;
    kept.size = size;
    this.#kept.set(entry, kept);
    this.#size += size;
    for (const [oldest] of this.#kept) {
      if (this.#size <= this.#mostThings) return;
      this.drop(oldest);
    }
  }

  serviceChanged(entry: Entry): void {
    const kept = this.#kept.get(entry);
    for (const family of kept ? FAMILIES : []) kept?.rows[family].serviceChanged();
  }

  lossesChanged(entry: Entry): void {
    const kept = this.#kept.get(entry);
    for (const family of kept ? FAMILIES : []) kept?.rows[family].lossesChanged();
  }

  drop(entry: Entry): void {
    this.#size -= this.#kept.get(entry)?.size ?? 0;
    this.#kept.delete(entry);
  }

  clear(): void {
    this.#kept.clear();
    this.#size = 0;
  }
}

const SMALL_SERVICE = 16;
const FEW_ENDPOINTS = 64;

function isLarge({ service, slices }: Entry): boolean {
  if (service === undefined) return false;
  const { ports, externalIPs, loadBalancerIPs, loadBalancerSourceRanges: ranges } = service;
  if (ranges.length + externalIPs.length + loadBalancerIPs.length > SMALL_SERVICE) return true;
  let endpoints = 0;
  for (const slice of slices) endpoints += slice.endpoints.length;
  return ports.length > SMALL_SERVICE || endpoints > FEW_ENDPOINTS;
}
