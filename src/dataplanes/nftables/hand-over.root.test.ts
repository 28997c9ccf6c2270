import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Forwarding } from '../../forwarding/model.ts';
import { enterOwnNetwork, run } from '../../linux/netlink/testing/own-namespace.ts';
import { type NodeFacts, PlaneError } from '../contract.ts';
import { change } from '../shared/testing/plane-change.ts';
import { TABLE_FAMILIES } from './nftables-chains.ts';
import { TARGET_SETS } from './nftables-sets.ts';
import { renderTable } from './render-nftables.ts';
import { tableContent } from './table-content.ts';
import { listingDifferences } from './testing/canonical.ts';
import { bring, listEverything, listTable, newPlane, nft } from './testing/nftables-kernel.ts';
import { exampleRows, FACTS } from './testing/nftables-rows.ts';

// A new one for each test, so that none meets what another has made.
beforeEach(enterOwnNetwork);

const ROWS = exampleRows();
const [FIRST] = ROWS as [Forwarding];
const DESIRED = { facts: FACTS, rows: ROWS };
const PORTS = {
  IPv4: { pod: 40_001, host: 40_002, outside: 40_003 },
  IPv6: { pod: 40_004, host: 40_005, outside: 40_006 },
};

const rendered = (facts: NodeFacts, family: (typeof TABLE_FAMILIES)[number]) =>
  renderTable(tableContent({ facts: { ...facts, handsOver: true }, rows: ROWS }, family));

function elementsOf(set: string, family = 'ip'): string {
  const listing = run(['nft', 'list', 'map', family, 'fairlead', set]);
  return /elements = \{ (.*) \}/.exec(listing)?.[1]?.replace(/ expires \S+/, '') ?? '';
}

const targetsIn = (family: string) => TARGET_SETS.map((set) => elementsOf(set, family));

describe('the nftables plane with a forwarder', () => {
  it('creates the table that render prints, byte for byte', async () => {
    await bring(newPlane({ forwarder: true }), DESIRED);
    for (const family of TABLE_FAMILIES) {
      assert.equal(listTable(family), rendered(FACTS, family));
    }
    listEverything();
  });

  it('writes where the forwarder listens, for some seconds', async () => {
    const plane = newPlane({ forwarder: true });
    await bring(plane, DESIRED);
    await plane.setForwarder(PORTS);
    assert.deepEqual(TABLE_FAMILIES.map(targetsIn), [
      [
        'tcp timeout 4s : 169.254.118.118 . 40001',
        'tcp timeout 4s : 169.254.118.118 . 40002',
        'tcp timeout 4s : 169.254.118.118 . 40003',
      ],
      [
        'tcp timeout 4s : fdfa:118:118::118 . 40004',
        'tcp timeout 4s : fdfa:118:118::118 . 40005',
        'tcp timeout 4s : fdfa:118:118::118 . 40006',
      ],
    ]);
    await plane.setForwarder({ ...PORTS, IPv6: null });
    assert.deepEqual(targetsIn('ip6'), ['', '', '']);
    await plane.setForwarder(undefined);
    assert.deepEqual(TABLE_FAMILIES.map(targetsIn), [
      ['', '', ''],
      ['', '', ''],
    ]);
  });

  it('finds nothing to repair in what was written, also after a restart', async () => {
    const plane = newPlane({ forwarder: true });
    await bring(plane, DESIRED);
    await plane.setForwarder(PORTS);
    for (const each of [plane, newPlane({ forwarder: true })]) {
      assert.deepEqual(await each.diff(DESIRED), []);
      const { writeCount, differenceCount } = await each.inspect(DESIRED, 'everything');
      assert.deepEqual([writeCount, differenceCount], [0, 0]);
    }
    assert.match(elementsOf('forwarder-pod'), /40001/);
  });

  it('names what differs from a table without a forwarder, and changes it at once', async () => {
    await bring(newPlane(), DESIRED);
    const plane = newPlane({ forwarder: true });
    const objects = (await plane.diff(DESIRED)).map(({ kind, object }) => `${kind} ${object}`);
    assert.ok(objects.includes('missing ip fairlead set forwarder-pod'), objects.join('\n'));
    assert.ok(objects.includes('missing ip6 fairlead chain hand-over/inside'));
    assert.ok(objects.includes('different ip fairlead chain cluster/4'));
    const { right } = await plane.inspect(DESIRED, 'everything');
    assert.equal(right.size, ROWS.length);
    await plane.setForwarder(PORTS);
    const back = newPlane();
    await back.inspect(DESIRED, 'everything');
    for (const family of TABLE_FAMILIES) {
      const wanted = renderTable(tableContent(DESIRED, family));
      assert.deepEqual(listingDifferences(listTable(family), wanted), []);
    }
  });

  it('hands over only connections of the interfaces that are served', async () => {
    const plane = newPlane({ forwarder: true });
    await bring(plane, DESIRED);
    const facts = { ...FACTS, clientInterfaces: ['docker0'] };
    await plane.configure(facts);
    for (const family of TABLE_FAMILIES) {
      assert.equal(listTable(family), rendered(facts, family));
    }
    assert.match(
      listTable('ip'),
      /dstnat; policy accept;\n\t\tiifname "docker0" jump dispatch\n\t}/,
    );
  });

  it('rejects the listeners where there is no table, and deletes none without complaint', async () => {
    const plane = newPlane({ forwarder: true });
    await assert.rejects(plane.setForwarder(PORTS), (error) => error instanceof PlaneError);
    await plane.setForwarder(undefined);
    await bring(plane, DESIRED);
    await plane.setForwarder(PORTS);
  });

  it('writes the listeners beside changes of rows, in the order of the calls', async () => {
    const plane = newPlane({ forwarder: true });
    await bring(plane, { facts: FACTS, rows: [] });
    const others = { ...PORTS, IPv4: { pod: 1, host: 2, outside: 3 } };
    await Promise.all([
      plane.apply(ROWS.map((each) => change('absent', each))),
      plane.setForwarder(undefined),
      plane.setForwarder(PORTS),
      plane.setForwarder(others),
    ]);
    assert.deepEqual(await plane.diff(DESIRED), []);
    assert.match(elementsOf('forwarder-outside'), / 3$/);
  });

  const kept = () =>
    ['kept-services', 'kept-nodeports'].map(
      (set) =>
        /elements = \{ ([^}]*) \}/.exec(run(['nft', 'list', 'set', 'ip', 'fairlead', set]))?.[1] ??
        '',
    );

  it('excepts rows from the hand-over, and hands them over again', async () => {
    const plane = newPlane({ forwarder: true });
    await bring(plane, DESIRED);
    const frontends = [
      { address: '10.96.0.1', port: 80 },
      { address: '', port: 30_080 },
    ];
    const one = { key: 'evil/a/TCP/IPv4', family: 'IPv4', frontends } as const;
    const other = { ...one, key: 'evil/b/TCP/IPv4', frontends: frontends.slice(0, 1) };
    const written = ['10.96.0.1 . tcp . 80', 'tcp . 30080'];
    await plane.keepFromForwarder([one, other]);
    assert.deepEqual(kept(), written);
    assert.deepEqual(await plane.diff(DESIRED), []);
    await plane.keepFromForwarder([{ ...one, frontends: [] }]);
    assert.deepEqual(kept(), [written[0], ''], 'the other row still has it');
    await plane.keepFromForwarder([{ ...other, frontends: [] }]);
    assert.deepEqual(kept(), ['', '']);
  });

  it('excepts them before it hands over anything after the table was made again', async () => {
    const plane = newPlane({ forwarder: true });
    await bring(plane, DESIRED);
    const frontends = Array.from({ length: 5_000 }, (_, at) => ({
      address: `10.97.${at >> 8}.${at & 255}`,
      port: 80,
    }));
    await plane.keepFromForwarder([{ key: 'evil/a/TCP/IPv4', family: 'IPv4', frontends }]);
    const count = () => kept()[0]?.split(',').length;
    assert.equal(count(), 5_000);
    nft('delete table ip fairlead');
    await plane.inspect(DESIRED, 'everything');
    assert.deepEqual(kept(), ['', '']);
    await plane.setForwarder(PORTS);
    assert.equal(count(), 5_000);
    nft('delete table ip fairlead');
    await assert.rejects(plane.setForwarder(PORTS), (error) => error instanceof PlaneError);
    await plane.inspect(DESIRED, 'everything');
    await plane.setForwarder(PORTS);
    assert.equal(count(), 5_000);
  });

  it('costs little to refresh', async (t) => {
    const plane = newPlane({ forwarder: true });
    await bring(plane, DESIRED);
    const tookMs: number[] = [];
    for (let round = 0; round < 200; round++) {
      const sinceMs = performance.now();
      await plane.setForwarder(PORTS);
      tookMs.push(performance.now() - sinceMs);
    }
    const middle = tookMs.sort((a, b) => a - b)[100] ?? 0;
    t.diagnostic(`a refresh takes ${Math.round(middle * 1000)} µs`);
    // Of a second; a machine under load takes several times as long as one at rest.
    assert.ok(middle < 20, `${middle} ms`);
  });
});

describe('a watch of the tables with a forwarder', () => {
  it('takes the listeners for no drift, whoever writes them, and rules for drift', async () => {
    const plane = newPlane({ forwarder: true });
    await bring(plane, DESIRED);
    await plane.setForwarder(PORTS);
    const told: string[] = [];
    const stop = new AbortController();
    using _ = { [Symbol.dispose]: () => stop.abort() };
    const watching = plane.watch(({ what }) => told.push(what), stop.signal);
    await letRead();
    for (let round = 0; round < 10; round++) await plane.setForwarder(PORTS);
    nft('flush map ip fairlead forwarder-pod');
    await letRead();
    assert.deepEqual(told, []);
    nft('flush chain ip fairlead hand-over');
    await until(() => told.length > 0);
    assert.match(told.join(), /deleted rule of chain hand-over of ip fairlead/);
    const { differences, writeCount } = await plane.inspect(DESIRED, 'reported');
    assert.deepEqual(
      differences.map(({ object }) => object),
      ['ip fairlead chain hand-over'],
    );
    assert.ok(writeCount < 10, `${writeCount} writes`);
    assert.match(elementsOf('forwarder-host'), /40002/);
    stop.abort();
    await watching;
  });

  it('takes its lost events of refreshes for its own', async () => {
    const plane = newPlane({ forwarder: true, receiveBufferBytes: 4096 });
    await bring(plane, DESIRED);
    const told: string[] = [];
    const stop = new AbortController();
    using _ = { [Symbol.dispose]: () => stop.abort() };
    const watching = plane.watch(({ what }) => told.push(what), stop.signal);
    await letRead();
    for (let round = 0; round < 3; round++) {
      // Without a pause the watch reads nothing meanwhile.
      await Promise.all(Array.from({ length: 50 }, () => plane.setForwarder(PORTS)));
      await plane.apply([change(FIRST, undefined)]);
      await plane.apply([change('absent', FIRST)]);
      await letRead();
    }
    nft('add element ip fairlead service-ips { 10.96.7.7 }');
    await until(() => told.length > 0);
    assert.match(told[0] ?? '', /added ip fairlead set service-ips/, 'nothing was told before it');
    stop.abort();
    await watching;
  });
});

const LONGEST_WAIT_MS = 10_000;

async function until(isTrue: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + LONGEST_WAIT_MS;
  while (!isTrue() && performance.now() < deadlineMs) await turn();
}

/** Iterations of the event loop, in each of which a readable socket is read. */
async function letRead(): Promise<void> {
  for (let turns = 0; turns < 500; turns++) await turn();
}
