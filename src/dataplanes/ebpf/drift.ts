import type { Difference } from '../contract.ts';
import { entryPrint, slotPrint } from './fingerprint.ts';
import type { Knowledge } from './knowledge.ts';
import { SLOT, wordsIn } from './layout.ts';
import type { Places } from './places.ts';
import { type Tables, wordsOfSlots } from './tables.ts';

const HAPPENED: Readonly<Record<Difference['kind'], string>> = {
  missing: 'was taken off',
  different: 'runs another program',
  foreign: 'is attached and should not be',
};

/** What somebody else has changed in the maps, in words; empty: nothing. */
export async function changesInMaps(tables: Tables, knowledge: Knowledge): Promise<string[]> {
  const changes: string[] = [];
  let count = 0;
  let sum = 0;
  for await (const entries of tables.frontends.entries(new AbortController().signal)) {
    for (const { key, value } of entries) {
      count += 1;
      sum = (sum + entryPrint(key, value)) >>> 0;
    }
  }
  if (count !== knowledge.frontendCount || sum !== knowledge.frontendSum) {
    changes.push(`ebpf frontends changed: ${count} instead of ${knowledge.frontendCount}`);
  }
  const slots = wordsOfSlots(tables.readSlots(tables.allSlots));
  const { slotPrints } = knowledge;
  let changed = 0;
  for (let at = 0; at < slotPrints.length; at++) {
    const print = slotPrints[at];
    if (print !== 0 && print !== slotPrint(slots, at * wordsIn(SLOT))) changed += 1;
  }
  if (changed > 0) changes.push(`${changed} ebpf slots changed`);
  return changes;
}

export function changesAtPlaces(places: Places): string[] {
  return places.differences().map(({ kind, object }) => `${object} ${HAPPENED[kind]}`);
}
