import type { Desired, Inspection, NodeFacts } from '../../../dataplanes/contract.ts';
import { Differences } from '../../../dataplanes/differences.ts';
import { type ServicePortKey, servicePortKey } from '../../../forwarding/model.ts';
import type { Binary } from './maps/binary.ts';
import { entryPrint, slotPrint } from './maps/entry-fingerprint.ts';
import { wordsOf } from './maps/entry-text.ts';
import { compareNodeEntries, type NodeAbout, nodeEntries } from './maps/fixed-entries.ts';
import { FRONTEND_KEY, MOST_ENDPOINTS, SLOT, wordsIn } from './maps/layout.ts';
import { Comparison } from './maps/map-comparison.ts';
import type { Knowledge } from './maps/map-knowledge.ts';
import { type Tables, wordsOfSlots } from './maps/open-tables.ts';
import { PodNetwork } from './maps/pod-network-entry.ts';
import { type SlotRange, SlotSpace, unusedIn } from './maps/slot-space.ts';
import { StickyPorts } from './maps/sticky-ports.ts';
import type { Places } from './places/hook-places.ts';

export interface Inspected {
  readonly tables: Tables;
  readonly places: Places;
  readonly knowledge: Knowledge;
  readonly about: NodeAbout;
}

/** Reads all maps, assumes nothing, and deletes what belongs to no row. */
export async function inspectEverything(
  inspected: Inspected,
  desired: Desired,
): Promise<Inspection> {
  const { tables, places, knowledge, about } = inspected;
  const resting = knowledge.space.restingRanges();
  knowledge.forget();
  const podNetwork = podNetworkOf(desired.facts, about);
  knowledge.podNetwork = podNetwork;
  const differences = new Differences();
  const frontends = await readFrontends(tables);
  for (const [key, value] of frontends) {
    knowledge.noteFrontend(entryPrint(Buffer.from(key, 'latin1'), value), 1);
  }
  const slots = tables.readSlots(tables.allSlots);
  const comparison = new Comparison({
    frontends: new Map(frontends),
    slots,
    differences,
    podNetwork,
  });
  const right = new Set<ServicePortKey>();
  const used: SlotRange[] = [];
  const sticky = new StickyPorts();
  for (const row of desired.rows) {
    const key = servicePortKey(row.id);
    sticky.add(row);
    const { isRight, list, presentKeys } = comparison.compare(row);
    if (list) {
      knowledge.lists.set(key, list);
      used.push(list);
    }
    if (isRight) right.add(key);
    else {
      knowledge.present.set(key, presentKeys);
      const led = distinctRanges(presentKeys.map((each) => frontends.get(each)));
      for (const range of led) used.push(range);
    }
  }
  comparison.noteLeftovers();
  const removed: Buffer[] = [];
  let writeCount = 0;
  for (const [key, value] of comparison.leftovers()) {
    const bytes = Buffer.from(key, 'latin1');
    tables.frontends.delete(bytes);
    knowledge.noteFrontend(entryPrint(bytes, value), -1);
    removed.push(value);
    writeCount += 1;
  }
  knowledge.sticky = sticky;
  knowledge.space = spaceOf(tables.slots.maxEntries, {
    used,
    resting,
    left: distinctRanges(removed),
  });
  knowledge.slotPrints = printsOf(slots, used);
  const node = () => nodeEntries(desired.facts, about);
  const found = [
    ...(await compareNodeEntries(tables, node, { write: true })),
    ...(await places.repair()),
  ];
  for (const difference of found) differences.add(() => difference);
  knowledge.facts = desired.facts;
  return {
    right,
    differences: differences.described,
    differenceCount: differences.count,
    writeCount: writeCount + found.length,
  };
}

/** What an inspection would find in the maps. */
export async function diffTables(
  tables: Tables,
  desired: Desired,
  about: NodeAbout,
): Promise<Differences> {
  const differences = Differences.ofAll();
  const comparison = new Comparison({
    frontends: await readFrontends(tables),
    slots: tables.readSlots(tables.allSlots),
    differences,
    podNetwork: podNetworkOf(desired.facts, about),
  });
  for (const row of desired.rows) comparison.compare(row);
  comparison.noteLeftovers();
  const node = () => nodeEntries(desired.facts, about);
  for (const difference of await compareNodeEntries(tables, node, { write: false })) {
    differences.add(() => difference);
  }
  return differences;
}

/** Irrelevant at sockets: packets to an endpoint are masqueraded by the rules for all packets. */
function podNetworkOf({ podNetworks }: NodeFacts, { links }: NodeAbout): PodNetwork | undefined {
  return links() === undefined ? undefined : new PodNetwork(podNetworks ?? []);
}

export async function readFrontends(tables: Tables): Promise<Map<Binary, Buffer>> {
  const frontends = new Map<Binary, Buffer>();
  for await (const entries of tables.frontends.entries(new AbortController().signal)) {
    for (const { key, value } of entries) {
      frontends.set(key.toString('latin1', 0, FRONTEND_KEY.bytes), value);
    }
  }
  return frontends;
}

/**
 * Slots that frontends lead to, correctly or not: no other list gets them until these frontends are
 * rewritten. All frontends of a row lead to the same ones, so each range is listed once.
 */
function distinctRanges(values: readonly (Buffer | undefined)[]): SlotRange[] {
  const found = new Map<number, SlotRange>();
  for (const value of values) {
    if (value === undefined) continue;
    for (const { first, count } of wordsOf(value)) {
      if (count > 0) found.set(first * (MOST_ENDPOINTS + 1) + count, { first, length: count });
    }
  }
  return [...found.values()];
}

/** Ranges that rested before, and those of leftovers, rest again: programs may be reading them. */
function spaceOf(
  capacity: number,
  ranges: Readonly<Record<'used' | 'resting' | 'left', readonly SlotRange[]>>,
): SlotSpace {
  const { used, resting, left } = ranges;
  const given = [...resting, ...unusedIn(left, { used: [...used, ...resting], capacity })];
  const space = new SlotSpace({ capacity, used: [...used, ...given] });
  for (const range of given) space.giveBack(range);
  return space;
}

function printsOf(slots: Buffer, used: readonly SlotRange[]): Uint32Array<ArrayBuffer> {
  const capacity = slots.length / SLOT.bytes;
  const prints = new Uint32Array(capacity);
  const words = wordsOfSlots(slots);
  for (const { first, length } of used) {
    for (let at = first; at < Math.min(first + length, capacity); at++) {
      prints[at] = slotPrint(words, at * wordsIn(SLOT));
    }
  }
  return prints;
}
