import type { Answers, WireEndpointCount } from '../protocol.ts';
import type { Directory } from './directory.ts';

const MS_PER_TENTH = 100;

/** Of each endpoint that is in a row and was ever chosen or refused. */
export function* endpointCounts({ slots }: Directory, nowMs: number): Generator<WireEndpointCount> {
  for (const slot of slots.slots()) {
    const identity = slots.identity(slot);
    if (identity.row === '' || slots.isLeaving(slot)) continue;
    const avoidedMs = Math.max(0, Math.round(slots.avoidedUntil(slot) * MS_PER_TENTH - nowMs));
    yield { ...identity, ...slots.counts(slot), open: slots.open(slot), avoidedMs };
  }
}

/** Sums that never fall: with the endpoints that are gone. */
export function totalCounts({ slots }: Directory, nowMs: number): Answers['totals'] {
  let open = 0;
  let avoidedEndpoints = 0;
  for (const slot of slots.slots()) {
    open += slots.open(slot);
    if (slots.avoidedUntil(slot) * MS_PER_TENTH > nowMs) avoidedEndpoints++;
  }
  const failed = slots.threadCount('failed');
  const unknownFrontend = slots.threadCount('unknownFrontend');
  return { ...slots.sums(), open, avoidedEndpoints, failed, unknownFrontend };
}
