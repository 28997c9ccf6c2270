import type { Entry } from './entry.ts';
import { wantedClaims } from './holders.ts';

/** Rows that the kernel must take in one transaction: nearly always a single one. */
export type Unit = readonly Entry[];

/**
 * Orders rows so that who gives up an address comes before who wants it, and brings the former in
 * where it was not asked for. Rows that wait for each other, such as two Services that exchange
 * their node ports, are one unit: apart, neither could ever be written.
 */
export function unitsOf(
  entries: readonly Entry[],
  holderOf: (claim: string) => Entry | undefined,
): Unit[] {
  const done = new Set<Entry>();
  return entries.flatMap((entry) => {
    const chain = new Chain(holderOf, done);
    chain.follow(entry);
    return chain.isCircle ? [chain.rows] : chain.rows.map((row) => [row]);
  });
}

class Chain {
  readonly rows: Entry[] = [];
  isCircle = false;
  readonly #holderOf: (claim: string) => Entry | undefined;
  readonly #done: Set<Entry>;
  readonly #open = new Set<Entry>();

  constructor(holderOf: (claim: string) => Entry | undefined, done: Set<Entry>) {
    this.#holderOf = holderOf;
    this.#done = done;
  }

  follow(entry: Entry): void {
    if (this.#open.has(entry)) this.isCircle = true;
    if (this.#done.has(entry)) return;
    this.#done.add(entry);
    this.#open.add(entry);
    for (const claim of wantedClaims(entry)) {
      const holder = this.#holderOf(claim);
      if (holder !== undefined && holder !== entry) this.follow(holder);
    }
    this.#open.delete(entry);
    this.rows.push(entry);
  }
}
