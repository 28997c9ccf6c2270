import { FRONTEND, FRONTEND_KEY, SLOT, wordsIn } from './layout.ts';

const FACTOR = 0x01000193;
const START = 0x811c9dc5 | 0;
const KEY_WORDS = wordsIn(FRONTEND_KEY);
const VALUE_WORDS = wordsIn(FRONTEND);
/** Address and port, without counters. */
const ENDPOINT_WORDS = SLOT.connections / 4;

/**
 * Sums by which a scan of the maps detects whether they hold what was written. The kernel reports
 * no writes to maps, and a copy of everything would be as large as the maps.
 */

/**
 * For one frontend. The sums of all are added up: order does not matter, and one can be subtracted.
 */
export function frontendPrint(
  keys: Int32Array,
  values: Int32Array,
  at: { readonly key: number; readonly value: number },
): number {
  let print = START;
  for (let i = at.key; i < at.key + KEY_WORDS; i++) print = mixed(print, keys[i] ?? 0);
  for (let i = at.value; i < at.value + VALUE_WORDS; i++) print = mixed(print, values[i] ?? 0);
  return print >>> 0;
}

/** For the endpoint in a slot. Never 0: that is "not written". */
export function slotPrint(slots: Int32Array, at: number): number {
  let print = START;
  for (let i = at; i < at + ENDPOINT_WORDS; i++) print = mixed(print, slots[i] ?? 0);
  return (print | 1) >>> 0;
}

/** The same of an entry that came as bytes; they may begin anywhere. */
export function entryPrint(key: Buffer, value: Buffer): number {
  let print = START;
  for (let at = 0; at < FRONTEND_KEY.bytes; at += 4) print = mixed(print, key.readInt32LE(at));
  for (let at = 0; at < FRONTEND.bytes; at += 4) print = mixed(print, value.readInt32LE(at));
  return print >>> 0;
}

function mixed(print: number, word: number): number {
  const next = Math.imul(print ^ word, FACTOR);
  return next ^ (next >>> 15);
}
