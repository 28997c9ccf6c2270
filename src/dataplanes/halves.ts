import { type Forwarding, type ServicePortKey, servicePortKey } from '../forwarding/model.ts';
import type { Applied, Inspection, RowChange } from './contract.ts';

export type Half = 'front' | 'behind';

/** The state of one row in each of two planes. */
export type HalvesOfRow = Readonly<Record<Half, Applied>>;

const BOTH_UNKNOWN: HalvesOfRow = { front: 'unknown', behind: 'unknown' };

/**
 * The rows that differ between two planes. For the caller they are `unknown`, because a change has
 * one `before`; each plane gets the state it has. Empty unless the planes differ, and a row leaves
 * it with its next write: docs/decisions/0029-new-and-unknown.md.
 */
export class Halves {
  readonly #rows = new Map<ServicePortKey, HalvesOfRow>();

  /** Both planes have been compared with these rows. */
  inspected(rows: readonly Forwarding[], found: Readonly<Record<Half, Inspection>>): void {
    this.#rows.clear();
    const [front, behind] = [found.front.right, found.behind.right];
    const differing = front.symmetricDifference(behind);
    if (differing.size === 0) return;
    for (const row of rows) {
      const key = servicePortKey(row.id);
      if (!differing.has(key)) continue;
      const has = (right: ReadonlySet<string>): Applied => (right.has(key) ? row : 'unknown');
      this.#rows.set(key, { front: has(front), behind: has(behind) });
    }
  }

  /** The same change for one of the planes. */
  changeFor(half: Half, change: RowChange): RowChange {
    const known = change.before === 'unknown' ? this.#rows.get(change.key) : undefined;
    return known === undefined ? change : { ...change, before: known[half] };
  }

  note(key: ServicePortKey, halves: Partial<HalvesOfRow>): void {
    this.#rows.set(key, { ...BOTH_UNKNOWN, ...halves });
  }

  /** Both planes have the row as it was applied last. */
  written({ key }: RowChange): void {
    this.#rows.delete(key);
  }
}
