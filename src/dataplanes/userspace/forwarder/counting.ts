import type { Answers, WireEndpointCount } from '../protocol.ts';
import type { Directory } from './directory.ts';
import { noCounts, type SlotCounts } from './slot-table.ts';

const MS_PER_TENTH = 100;

/** Of each endpoint that is in a row and was ever chosen or refused. */
export function* endpointCounts({ slots }: Directory, nowMs: number): Generator<WireEndpointCount> {
  for (const slot of slots.slots()) {
    const identity = slots.identity(slot);
    if (identity === undefined || slots.isLeaving(slot)) continue;
    const counts = slots.counts(slot);
    const open = slots.open(slot);
    const avoidedMs = Math.max(0, Math.round(slots.avoidedUntil(slot) * MS_PER_TENTH - nowMs));
    const isUnused = open === 0 && avoidedMs === 0 && isZero(counts);
    if (!isUnused) yield { ...identity, ...counts, open, avoidedMs };
  }
}

/** Sums that never fall: with the endpoints that are gone. */
export function totalCounts({ slots }: Directory, nowMs: number): Answers['totals'] {
  const sums = noCounts();
  add(sums, slots.goneCounts);
  let open = 0;
  let avoidedEndpoints = 0;
  for (const slot of slots.slots()) {
    add(sums, slots.counts(slot));
    open += slots.open(slot);
    if (slots.avoidedUntil(slot) * MS_PER_TENTH > nowMs) avoidedEndpoints++;
  }
  const failed = slots.threadCount('failed');
  const unknownFrontend = slots.threadCount('unknownFrontend');
  return { ...sums, open, avoidedEndpoints, failed, unknownFrontend };
}

function isZero(counts: SlotCounts): boolean {
  return Object.values(counts).every((count) => count === 0);
}

function add(sums: SlotCounts, counts: Readonly<SlotCounts>): void {
  for (const field of Object.keys(sums) as (keyof SlotCounts)[]) sums[field] += counts[field];
}
