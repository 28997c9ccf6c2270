import type { AffinityFill } from '../../../../dataplanes/contract.ts';
import type { Binary } from './binary.ts';
import {
  AFFINITY,
  AFFINITY_COUNT_KEY,
  AFFINITY_KEY,
  AFFINITY_SHARE,
  AffinityCounter,
} from './layout.ts';
import type { Tables } from './open-tables.ts';
import type { StickyPorts } from './sticky-ports.ts';

const NS_PER_SECOND = 1e9;
const NAME_BYTES = 8;
/** The counters of all Services together. */
const ALL: Binary = '\0'.repeat(NAME_BYTES);

/** Clients of one Service as they are counted: added by programs, removed by sweeps. */
interface Counted {
  added: bigint;
  removed: bigint;
}

/** Input of a sweep: which clients are still valid, and the current time. */
export interface SweepOf {
  readonly sticky: () => StickyPorts;
  /** On the clock of the programs, `CLOCK_MONOTONIC`. */
  readonly nowNs: () => number;
}

/**
 * Deletes clients whose timeout is over or whose Service has no affinity now, then sets the
 * counters to what is left: a sweep corrects them whatever the cause of the error. Clients added
 * meanwhile may be counted twice until the next sweep, never missed. Returns how many it deleted.
 */
export async function sweepAffinities(tables: Tables, sweep: SweepOf): Promise<number> {
  const counted = await readCounts(tables);
  if (counted.size === 0) return 0;
  const left = new Map<Binary, number>();
  let total = 0;
  let deleted = 0;
  for await (const entries of tables.affinities.entries(new AbortController().signal)) {
    const sticky = sweep.sticky();
    const nowNs = sweep.nowNs();
    const over: Buffer[] = [];
    for (const { key, value } of entries) {
      const name = key.toString('latin1', AFFINITY_KEY.service, NAME_BYTES);
      const seconds = sticky.get(name)?.affinitySeconds ?? 0;
      if (nowNs - seenNs(value) >= seconds * NS_PER_SECOND) over.push(key);
      else left.set(name, (left.get(name) ?? 0) + 1);
    }
    total += entries.length - over.length;
    deleted += await tables.affinities.deleteBatch(Buffer.concat(over), over.length);
  }
  left.set(ALL, total);
  writeCounts(tables, { counted, left });
  return deleted;
}

/** How full it is, by the rule by which the programs decide. */
export async function readAffinityFill(tables: Tables, sticky: StickyPorts): Promise<AffinityFill> {
  const counted = await readCounts(tables);
  const room = tables.affinities.maxEntries;
  const remembered = clientsOf(counted.get(ALL));
  const limit = Math.max(0, Math.floor((room - remembered) / AFFINITY_SHARE));
  const full = [...counted].flatMap(([name, each]) => {
    const key = sticky.get(name)?.key;
    return key !== undefined && clientsOf(each) >= limit ? [key] : [];
  });
  return { remembered, room, full: full.sort() };
}

function seenNs(value: Buffer): number {
  return value.readUInt32LE(AFFINITY.seenNs + 4) * 2 ** 32 + value.readUInt32LE(AFFINITY.seenNs);
}

async function readCounts({ affinityCounts }: Tables): Promise<Map<Binary, Counted>> {
  const counted = new Map<Binary, Counted>();
  for await (const entries of affinityCounts.entries(new AbortController().signal)) {
    for (const { key, value } of entries) {
      const name = key.toString('latin1', AFFINITY_COUNT_KEY.service, NAME_BYTES);
      const each = counted.get(name) ?? { added: 0n, removed: 0n };
      const isAdded = key.readUInt32LE(AFFINITY_COUNT_KEY.counter) === AffinityCounter.added;
      each[isAdded ? 'added' : 'removed'] = value.readBigUInt64LE();
      counted.set(name, each);
    }
  }
  return counted;
}

/** A Service without clients needs no counters: the programs make them again. */
function writeCounts(
  { affinityCounts }: Tables,
  counts: {
    readonly counted: ReadonlyMap<Binary, Counted>;
    readonly left: ReadonlyMap<Binary, number>;
  },
): void {
  for (const [name, { added, removed }] of counts.counted) {
    const left = counts.left.get(name) ?? 0;
    if (left === 0 && name !== ALL) {
      for (const counter of ['removed', 'added'] as const)
        affinityCounts.delete(keyOf(name, counter));
      continue;
    }
    const should = BigInt.asUintN(64, added - BigInt(left));
    if (should === removed) continue;
    const value = Buffer.alloc(8);
    value.writeBigUInt64LE(should);
    affinityCounts.update(keyOf(name, 'removed'), value);
  }
}

function keyOf(name: Binary, counter: keyof typeof AffinityCounter): Buffer {
  const key = Buffer.alloc(AFFINITY_COUNT_KEY.bytes);
  key.write(name, AFFINITY_COUNT_KEY.service, 'latin1');
  key.writeUInt32LE(AffinityCounter[counter], AFFINITY_COUNT_KEY.counter);
  return key;
}

function clientsOf(counted: Counted | undefined): number {
  return counted === undefined ? 0 : Number(BigInt.asIntN(64, counted.added - counted.removed));
}
