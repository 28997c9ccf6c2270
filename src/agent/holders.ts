import { knownRow } from '../dataplanes/row-change.ts';
import { claimOf } from '../forwarding/claims.ts';
import type { Forwarding } from '../forwarding/model.ts';
import type { Entry } from './outstanding-entry.ts';

/**
 * Which row has in the kernel an address that it is about to give up. Another may want that
 * address, and can have it no sooner.
 */
export class Holders {
  readonly #byClaim = new Map<string, Entry>();

  /** No row is about to release an address: there is nothing to wait for. */
  get isEmpty(): boolean {
    return this.#byClaim.size === 0;
  }

  get(claim: string): Entry | undefined {
    return this.#byClaim.get(claim);
  }

  add(entry: Entry): void {
    if (!mayHold(entry)) return;
    for (const row of heldRows(entry)) {
      for (const claim of claimsBeyond(row, entry.desired)) {
        // A row that is known to have the address takes precedence over one that may have it.
        if (entry.applied !== 'unknown' || !this.#byClaim.has(claim))
          this.#byClaim.set(claim, entry);
      }
    }
  }

  /** Before anything of the entry changes. */
  remove(entry: Entry): void {
    if (this.isEmpty || !mayHold(entry)) return;
    for (const claim of heldRows(entry).flatMap(claimsOf)) {
      if (this.#byClaim.get(claim) === entry) this.#byClaim.delete(claim);
    }
  }
}

/** The addresses that the row does not have in the kernel yet. */
export function wantedClaims(entry: Entry): readonly string[] {
  return claimsBeyond(entry.desired, knownRow(entry.applied));
}

/** At a first start no row does, and there are tens of thousands. */
function mayHold({ applied, parts, leftovers }: Entry): boolean {
  return knownRow(applied) !== undefined || parts !== undefined || leftovers !== undefined;
}

/**
 * While a row is written in parts the kernel may already have addresses that only the last part
 * completes; for an `unknown` row, also what was there before. Two such rows that want each other's
 * addresses could otherwise never be written, unless they happen to be in one transaction.
 */
function heldRows({ applied, parts, leftovers = [] }: Entry): readonly Forwarding[] {
  return [knownRow(applied), parts?.change.after, ...leftovers].filter((row) => row !== undefined);
}

/**
 * The frontends of one row that the other lacks. Rows that differ in endpoints only share
 * frontends.
 */
function claimsBeyond(
  row: Forwarding | undefined,
  other: Forwarding | undefined,
): readonly string[] {
  if (row === undefined || row.frontends === other?.frontends) return NONE;
  const others = new Set(claimsOf(other));
  return claimsOf(row).filter((claim) => !others.has(claim));
}

const NONE: readonly string[] = [];

function claimsOf(row: Forwarding | undefined): readonly string[] {
  if (row === undefined) return NONE;
  const own = row.frontends.filter(({ notServed }) => notServed === undefined);
  return own.map((frontend) => claimOf(row.id, frontend));
}
