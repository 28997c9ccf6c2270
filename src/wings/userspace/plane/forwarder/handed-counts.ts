import type { Directory } from './directory.ts';
import type { HandedCounts } from './handover-wire.ts';
import { noCounts, type SlotCounts } from './slot-table.ts';

const TOTALS = ['accepted', 'failed', 'unknownFrontend'] as const;

/** Counts for the forwarder that follows: those until now, and later what was added since. */
export class CountsToHand {
  readonly #directory: Directory;
  readonly #handed = new Map<string, SlotCounts>();
  readonly #handedTotals = { accepted: 0, failed: 0, unknownFrontend: 0 };

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  /** What was not handed before. Endpoints that are gone are one without a name. */
  take(): HandedCounts {
    const { slots } = this.#directory;
    const endpoints: HandedCounts['endpoints'][number][] = [];
    const hand = (row: string, endpoint: string, counts: Readonly<SlotCounts>): void => {
      const name = `${row} ${endpoint}`;
      const added = difference(counts, this.#handed.get(name) ?? noCounts());
      this.#handed.set(name, { ...counts });
      const isAdded = Object.values(added).some((count) => count !== 0);
      if (isAdded) endpoints.push({ row, endpoint, ...added, open: 0, avoidedMs: 0 });
    };
    hand('', '', slots.goneCounts);
    for (const slot of slots.slots()) {
      const { row, endpoint } = slots.identity(slot);
      if (row !== '') hand(row, endpoint, slots.counts(slot));
    }
    const totals = { accepted: 0, failed: 0, unknownFrontend: 0 };
    for (const name of TOTALS) {
      const count = slots.threadCount(name);
      totals[name] = count - this.#handedTotals[name];
      this.#handedTotals[name] = count;
    }
    return { endpoints, ...totals };
  }
}

/** Adds what the forwarder before this one counted. */
export function takeCounts({ rows, slots }: Directory, counts: HandedCounts): void {
  for (const name of TOTALS) slots.addThreadCount(name, counts[name]);
  for (const { row: key, endpoint, ...count } of counts.endpoints) {
    const slot = rows.row(key)?.slots.get(endpoint);
    const { open: _, avoidedMs: __, ...sums } = count;
    if (slot === undefined) slots.addGone(sums);
    else slots.addCounts(slot, sums);
  }
}

function difference(counts: Readonly<SlotCounts>, before: SlotCounts): SlotCounts {
  const fields = Object.keys(counts) as (keyof SlotCounts)[];
  const result = noCounts();
  for (const field of fields) result[field] = counts[field] - before[field];
  return result;
}
