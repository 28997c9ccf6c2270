import type { ViewTick } from './protocol/tick.ts';

/** A tick goes to every page each second, also over a slow tunnel. */
export const MOST_TICK_BYTES = 20_000;

/**
 * The tick as JSON in its bounds. Names and sentences may be long: first changes are left out, which
 * the page can ask for, then notes and troubles, then the least busy Services.
 */
export function fittedTick(tick: ViewTick): string {
  let now = tick;
  for (;;) {
    const json = JSON.stringify(now);
    if (Buffer.byteLength(json) <= MOST_TICK_BYTES) return json;
    const smaller = withLess(now);
    if (smaller === undefined) return json;
    now = smaller;
  }
}

/** Undefined: nothing more can be left out. */
function withLess(tick: ViewTick): ViewTick | undefined {
  const { changes, troubles, notes, map } = tick;
  if (changes.length > 0) {
    const kept = changes.slice(0, Math.floor(changes.length / 2));
    const leftOut = changes.length - kept.length;
    return { ...tick, changes: kept, changesLeftOut: tick.changesLeftOut + leftOut };
  }
  if (troubles.length > 1 || notes.length > 1) {
    return { ...tick, troubles: troubles.slice(0, 1), notes: notes.slice(0, 1) };
  }
  if (map.services.length > 0) {
    return { ...tick, map: { ...map, services: map.services.slice(0, -1) } };
  }
  return undefined;
}
