import { FRONTEND, FRONTEND_KEY, SLOT } from './layout.ts';

const FACTOR = 0x01000193;
const START = 0x811c9dc5 | 0;

/**
 * Numbers by which a look at the maps tells whether they hold what was written. The kernel tells
 * nobody when a map is written to, and a copy of everything would be as large as the maps.
 */

/** Of one frontend. Those of all are added up: order does not matter, and one can be taken away. */
export function frontendPrint(key: Buffer, value: Buffer, at = { key: 0, value: 0 }): number {
  let print = mix(START, key, { from: at.key, bytes: FRONTEND_KEY.bytes });
  print = mix(print, value, { from: at.value, bytes: FRONTEND.bytes });
  return print >>> 0;
}

/** Of the endpoint in a slot, without what was counted for it. Never 0: that is "not written". */
export function slotPrint(value: Buffer, at: number): number {
  return (mix(START, value, { from: at, bytes: SLOT.connections }) | 1) >>> 0;
}

function mix(start: number, of: Buffer, { from, bytes }: { from: number; bytes: number }): number {
  let print = start;
  for (let at = from; at < from + bytes; at += 4) {
    print = Math.imul(print ^ of.readInt32LE(at), FACTOR);
    print ^= print >>> 15;
  }
  return print;
}
