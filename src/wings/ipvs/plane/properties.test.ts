import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Applied,
  type NodeFacts,
  PlaneError,
  type RowChange,
} from '../../../dataplanes/contract.ts';
import { isApplied } from '../../../dataplanes/row-change.ts';
import { type Forwarding, type ServicePortKey, servicePortKey } from '../../../forwarding/model.ts';
import { IpvsPlane } from './ipvs-plane.ts';
import { keyOfId } from './server-state.ts';
import { FACTS } from './testing/ipvs-rows.ts';
import { MemoryCapture } from './testing/memory-capture.ts';
import { MemoryIpvs } from './testing/memory-ipvs.ts';
import { Chance, randomRow } from './testing/random-rows.ts';

const SEEDS = Number(process.env.IPVS_SEEDS ?? 150);
const FIRST_SEED = Number(process.env.IPVS_FIRST_SEED ?? 1);
const STEPS = 25;
const ROW_COUNT = 12;
/** Addresses of rows at which another process may have a virtual server. */
const ALSO_OF_OTHERS = [
  ...['10.96.0.5 TCP 80', '10.96.0.6 UDP 80'],
  ...['203.0.113.9 TCP 30004', '192.168.50.2 TCP 30004'],
];
const FOREIGN = {
  scheduler: 'foreign',
  schedulerFlags: ['unmarked'],
  persistenceSeconds: 0,
} as const;

/** The agent in its simplest form: remembers what is applied, and retries what is not. */
class Bench {
  readonly ipvs = new MemoryIpvs();
  readonly capture = new MemoryCapture();
  readonly desired = new Map<ServicePortKey, Forwarding>();
  readonly applied = new Map<ServicePortKey, Applied>();
  /** Virtual servers of another process. */
  readonly foreign = new Set<string>();
  facts: NodeFacts = FACTS;
  plane = planeOn(this.ipvs, this.capture);

  async inspect(depth: 'everything' | 'reported'): Promise<void> {
    const rows = [...this.desired.values()];
    const { right } = await this.plane.inspect({ facts: this.facts, rows }, depth);
    this.applied.clear();
    for (const [key, row] of this.desired) this.applied.set(key, right.has(key) ? row : 'unknown');
  }

  async applyAll(chance?: Chance): Promise<void> {
    const all = this.#outstanding();
    const size = chance ? 1 + chance.below(4) : all.length;
    for (let from = 0; from < all.length; from += size)
      await this.#apply(all.slice(from, from + size));
  }

  async #apply(changes: readonly RowChange[]): Promise<void> {
    try {
      await this.plane.apply(changes);
    } catch (error) {
      assert.ok(error instanceof PlaneError, String(error));
      for (const key of error.unknown ?? []) this.applied.set(key, 'unknown');
      return;
    }
    for (const { key, after } of changes) {
      if (after) this.applied.set(key, after);
      else this.applied.delete(key);
    }
  }

  #outstanding(): RowChange[] {
    const keys = new Set([...this.desired.keys(), ...this.applied.keys()]);
    return [...keys].flatMap((key) => {
      const after = this.desired.get(key);
      const before = this.applied.get(key) ?? 'absent';
      const id = after?.id ?? (typeof before === 'object' ? before.id : undefined);
      if (isApplied(before, after)) return [];
      return [{ key, id: id ?? idOf(key), before, after }];
    });
  }

  /** What a client can see: destinations that drain take no new connections. */
  serving(): unknown {
    const servers = [...this.ipvs.held].map(([id, { server, destinations }]) => [
      id,
      server,
      [...destinations.values()].map((each) => each.destination).filter((each) => each.weight > 0),
    ]);
    const captured = [...this.capture.captured.keys()];
    return {
      servers: sorted(servers.filter(([id]) => captured.includes(id as string))),
      captured: sorted([...this.capture.captured.values()]),
      rejected: sorted([...this.capture.rejected.keys()]),
      hairpin: sorted([...this.capture.hairpin]),
    };
  }

  /** A virtual server of another process, if there is none. */
  addForeign(id: string): void {
    if (this.ipvs.held.has(id) || this.capture.servers.has(id)) return;
    const server = { ...keyOfId(id), ...FOREIGN };
    this.ipvs.held.set(id, { server, destinations: new Map() });
    this.foreign.add(id);
  }

  /** As `ipvsadm -C`. */
  clearIpvs(): void {
    this.ipvs.held.clear();
    this.foreign.clear();
  }

  assertForeignLeft(): void {
    for (const id of this.foreign) {
      const { server, destinations } = this.ipvs.held.get(id) ?? {};
      assert.deepEqual(server, { ...keyOfId(id), ...FOREIGN });
      assert.equal(destinations?.size, 0, `${id} of another process was changed`);
      assert.ok(!this.capture.captured.has(id), `${id} of another process is captured`);
      assert.ok(!this.capture.servers.has(id), `${id} of another process is marked as ours`);
    }
  }

  everything(): unknown {
    return { ...(this.serving() as object), listed: sorted([...this.capture.servers.keys()]) };
  }

  /** A captured address without a destination is a rejected connection. */
  assertServed(why: string): void {
    this.assertForeignLeft();
    for (const id of this.capture.captured.keys()) {
      const held = this.ipvs.held.get(id);
      const weights = [...(held?.destinations.values() ?? [])].map(
        (each) => each.destination.weight,
      );
      assert.ok(
        weights.some((weight) => weight > 0),
        `${id} is captured without destination ${why}`,
      );
      assert.ok(this.capture.servers.has(id), `${id} is captured and not marked as ours ${why}`);
    }
  }
}

function planeOn(ipvs: MemoryIpvs, capture: MemoryCapture): IpvsPlane {
  return new IpvsPlane({
    ipvs,
    capture,
    scheduler: { name: 'rr', flags: [] },
    rowsAtOnce: 2,
    timeouts: () => ({ tcpSeconds: 0, tcpFinSeconds: 0, udpSeconds: 0 }),
    prepare: async () => undefined,
  });
}

function idOf(key: ServicePortKey): RowChange['id'] {
  const [namespace = '', service = '', protocol, family] = key.split('/');
  return { namespace, service, port: '', protocol, family } as RowChange['id'];
}

/** In an order that does not depend on the one in which things were written. */
function sorted(values: readonly unknown[]): unknown[] {
  const texts = values.map((value) =>
    JSON.stringify(value, (_, each) =>
      Array.isArray(each) && typeof each[0] === 'object'
        ? each.map((one) => JSON.stringify(one)).sort()
        : each,
    ),
  );
  return texts.sort();
}

async function fresh(bench: Bench): Promise<Bench> {
  const other = new Bench();
  other.facts = bench.facts;
  for (const id of bench.foreign) other.addForeign(id);
  for (const [key, row] of bench.desired) other.desired.set(key, row);
  await other.inspect('everything');
  await other.applyAll();
  return other;
}

function changeDesired(bench: Bench, chance: Chance): void {
  for (let count = chance.below(4); count >= 0; count--) {
    const next = randomRow(chance, chance.below(ROW_COUNT));
    if (chance.is(4)) bench.desired.delete(servicePortKey(next.id));
    else bench.desired.set(servicePortKey(next.id), next);
  }
}

function otherAddresses(chance: Chance): NodeFacts {
  const v4 = ['192.168.50.1', '192.168.50.2'].slice(0, 1 + chance.below(2));
  const v6 = ['fd00:50::1', 'fd00:50::2'].slice(chance.below(2));
  return {
    ...FACTS,
    nodePortAddresses: { IPv4: v4, IPv6: 'all' },
    ownAddresses: ['127.0.0.1', ...v4, '::1', ...v6],
  };
}

async function step(bench: Bench, chance: Chance): Promise<void> {
  changeDesired(bench, chance);
  if (chance.is(4)) bench.addForeign(chance.of(ALSO_OF_OTHERS));
  const isMissing = chance.is(5);
  bench.ipvs.missing = new Set(isMissing ? ['lc', 'dh'] : []);
  const oneIn = chance.of([3, 20, 1_000_000]);
  let isRejected = false;
  bench.ipvs.isRejected = () => {
    const isNow = chance.is(oneIn);
    isRejected ||= isNow;
    return isNow;
  };
  bench.capture.isRejected = () => chance.is(oneIn);
  if (chance.is(3)) await reconfigure(bench, otherAddresses(chance));
  await bench.applyAll(chance);
  for (const [id, { destinations }] of bench.ipvs.held) {
    for (const each of destinations.keys()) bench.ipvs.connect(id, each, chance.below(2));
  }
  bench.ipvs.isRejected = () => false;
  bench.ipvs.missing = new Set();
  bench.capture.isRejected = () => false;
  bench.assertServed('after rejections');
  // Only a full inspection tries again what the kernel rejected, or did not have.
  if (isMissing || isRejected) await bench.inspect('everything');
  if (chance.is(2)) await bench.plane.deleteDrained();
  if (chance.is(4)) bench.plane = planeOn(bench.ipvs, bench.capture);
  else if (chance.is(3)) bench.clearIpvs();
  else return;
  await bench.inspect('everything');
}

async function reconfigure(bench: Bench, facts: NodeFacts): Promise<void> {
  try {
    await bench.plane.configure(facts);
    bench.facts = facts;
  } catch (error) {
    assert.ok(error instanceof PlaneError, String(error));
  }
}

/** Nothing is rejected any more: two rounds repair everything, and a third has nothing to write. */
async function settle(bench: Bench, depth: 'everything' | 'reported'): Promise<void> {
  await bench.inspect(depth);
  await bench.applyAll();
  for (const [id, { destinations }] of bench.ipvs.held) {
    for (const each of destinations.keys()) bench.ipvs.connect(id, each, 0);
  }
  await bench.plane.deleteDrained();
}

for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
  test(`the kernel has what a fresh plane would write, whatever was changed and rejected before: seed ${seed}`, async () => {
    const chance = new Chance(seed);
    const bench = new Bench();
    await bench.inspect('everything');
    for (let at = 0; at < STEPS; at++) {
      await step(bench, chance);
      if (chance.is(3)) continue;
      await bench.inspect(chance.is(2) ? 'reported' : 'everything');
      await bench.applyAll();
      bench.assertServed(`at step ${at}`);
      assert.deepEqual(bench.serving(), (await fresh(bench)).serving(), `step ${at}`);
    }
    await settle(bench, chance.is(2) ? 'reported' : 'everything');
    const wanted = await fresh(bench);
    assert.deepEqual(bench.everything(), wanted.everything());
    assert.equal(bench.ipvs.held.size, wanted.ipvs.held.size);
    const { writeCount } = bench.ipvs;
    const restarted = planeOn(bench.ipvs, bench.capture);
    const rows = [...bench.desired.values()];
    const found = await restarted.inspect({ facts: bench.facts, rows }, 'everything');
    assert.deepEqual([found.right.size, found.differences, found.writeCount], [rows.length, [], 0]);
    assert.equal(bench.ipvs.writeCount, writeCount);
    assert.deepEqual(await restarted.diff({ facts: bench.facts, rows }), []);
  });
}
