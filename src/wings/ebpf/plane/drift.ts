import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Difference } from '../../../dataplanes/contract.ts';
import { entryPrint, slotPrint } from './maps/fingerprint.ts';
import { compareNodeEntries, type NodeEntries } from './maps/fixed-entries.ts';
import type { Knowledge } from './maps/knowledge.ts';
import { SLOT, wordsIn } from './maps/layout.ts';
import { type Tables, wordsOfSlots } from './maps/tables.ts';
import type { Places } from './places/places.ts';

const HAPPENED: Readonly<Record<Difference['kind'], string>> = {
  missing: 'was detached',
  different: 'runs another program',
  foreign: 'is attached and should not be',
};

/** What other processes have changed in the maps, described; empty: nothing. */
export async function changesInMaps(
  tables: Tables,
  knowledge: Knowledge,
  node?: () => NodeEntries,
): Promise<string[]> {
  const changes = node === undefined ? [] : await changesOfNode(tables, node);
  let count = 0;
  let sum = 0;
  for await (const entries of tables.frontends.entries(new AbortController().signal)) {
    for (const { key, value } of entries) {
      count += 1;
      sum = (sum + entryPrint(key, value)) >>> 0;
    }
  }
  if (count !== knowledge.frontendCount || sum !== knowledge.frontendSum) {
    changes.push(`ebpf frontends changed: ${count} entries instead of ${knowledge.frontendCount}`);
  }
  const changed = await changedSlots(tables, knowledge);
  if (changed > 0) changes.push(`${changed} ebpf slots changed`);
  return changes;
}

/** They are few, and a wrong value in them misleads every connection. */
async function changesOfNode(tables: Tables, node: () => NodeEntries): Promise<string[]> {
  const differences = await compareNodeEntries(tables, node, { write: false });
  return differences.map(({ object }) => `${object} changed`);
}

/** Blocks the event loop for about two milliseconds. */
const SLOTS_PER_ITERATION = 8192;

/** Reading costs most, so slots behind the last written one are not read. */
async function changedSlots(tables: Tables, { slotPrints }: Knowledge): Promise<number> {
  let length = slotPrints.length;
  while (length > 0 && slotPrints[length - 1] === 0) length -= 1;
  let changed = 0;
  for (let first = 0; first < length; first += SLOTS_PER_ITERATION) {
    if (first > 0) await nextIteration();
    const count = Math.min(SLOTS_PER_ITERATION, length - first);
    const slots = wordsOfSlots(tables.readSlots({ first, length: count }));
    for (let at = 0; at < count; at++) {
      const print = slotPrints[first + at];
      if (print !== 0 && print !== slotPrint(slots, at * wordsIn(SLOT))) changed += 1;
    }
  }
  return changed;
}

export function changesAtPlaces(places: Places): string[] {
  return places.differences().map(({ kind, object }) => `${object} ${HAPPENED[kind]}`);
}
