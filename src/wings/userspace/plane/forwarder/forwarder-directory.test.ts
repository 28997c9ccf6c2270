import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SourceClass } from '../../../../forwarding/model.ts';
import type { WireChange, WireRow, WireTreatment } from '../forwarder-protocol.ts';
import { DECLINED, rowDigest } from '../row-digest.ts';
import { MOST_FRONTENDS, MOST_ROWS } from './row-memory.ts';
import { testDirectory, testFrontend, testRow } from './testing/directories.ts';
import type { Question } from './testing/thread-view.ts';

const SOURCES: readonly SourceClass[] = ['pod', 'host', 'outside'];
const ADDRESSES = ['', '10.96.0.1', '10.96.0.2', 'fd00::1'];
const PORTS = [80, 30_080];

const treatment: fc.Arbitrary<WireTreatment> = fc.oneof(
  fc.constant(null),
  fc.record({ list: fc.constantFrom('cluster', 'local'), masquerade: fc.boolean() }),
);
const frontend = fc.record({
  address: fc.constantFrom(...ADDRESSES),
  port: fc.constantFrom(...PORTS),
  treatments: fc.record({ pod: treatment, host: treatment, outside: treatment }),
});
const frontends = fc.uniqueArray(frontend, {
  maxLength: 3,
  selector: ({ address, port }) => `${address} ${port}`,
});
const endpoint = fc.constantFrom('10.0.0.1 80', '10.0.0.2 80', '10.0.0.3 8080', 'fd00::9 80');
const endpoints = fc.uniqueArray(endpoint, { maxLength: 4 });
const key = fc.constantFrom('a/a/TCP/IPv4', 'a/b/TCP/IPv4', 'a/c/TCP/IPv6');
const affinitySeconds = fc.constantFrom(0, 10, 20);
const row: fc.Arbitrary<WireRow> = fc.record({
  key,
  affinitySeconds,
  frontends,
  cluster: endpoints,
  local: endpoints,
});
const listChange = fc.record({ added: endpoints, removed: endpoints });
const change: fc.Arbitrary<WireChange> = fc.oneof(
  fc.record({ set: row }),
  fc.record({ delete: key }),
  fc.record(
    { change: key, frontends, affinitySeconds, cluster: listChange, local: listChange },
    { requiredKeys: ['change'] },
  ),
);
const step = fc.oneof(change, fc.constant('round' as const));
const QUESTIONS: readonly Question[] = [
  '10.96.0.1',
  '10.96.0.2',
  '192.168.0.1',
  'fd00::1',
  'fd00::2',
]
  .flatMap((address) => PORTS.map((port) => ({ address, port })))
  .flatMap((frontend) => SOURCES.map((source) => ({ ...frontend, source })));

/** What the rows are after the change, by plain copying. */
function applied(rows: Map<string, WireRow>, change: WireChange): void {
  if ('set' in change) rows.set(change.set.key, change.set);
  else if ('delete' in change) rows.delete(change.delete);
  else {
    const before = rows.get(change.change);
    if (before === undefined) return;
    const list = (name: 'cluster' | 'local'): string[] => {
      const { added = [], removed = [] } = change[name] ?? {};
      return [...new Set(before[name]).difference(new Set(removed)).union(new Set(added))];
    };
    rows.set(before.key, {
      key: before.key,
      affinitySeconds: change.affinitySeconds ?? before.affinitySeconds,
      frontends: change.frontends ?? before.frontends,
      cluster: list('cluster'),
      local: list('local'),
    });
  }
}

it('has the same digests and shows threads the same as if the last rows were the first', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { directory, slots, thread } = testDirectory();
      const rows = new Map<string, WireRow>();
      for (const each of steps) {
        if (each === 'round') {
          slots.endRound(slots.beginRound());
          directory.affinity.tick();
        } else if (!('change' in each) || rows.has(each.change)) {
          directory.rows.apply(each);
          applied(rows, each);
        }
      }
      const fresh = testDirectory();
      // Of two rows with the same frontend the same one has it, in whatever order they come.
      const turned = [...rows.values()].toReversed();
      for (const each of turned) fresh.directory.rows.apply({ set: each });
      const digests = [...rows.values()].map((each) => [each.key, rowDigest(each)] as const);
      assert.deepEqual(new Map(directory.rows.digests()), new Map(digests));
      for (const each of QUESTIONS) {
        const [found, expected] = [thread.find(each), fresh.thread.find(each)];
        const what = JSON.stringify(each);
        assert.deepEqual(found?.endpoints, expected?.endpoints, what);
        assert.equal(found?.masquerade, expected?.masquerade, what);
        assert.equal(found?.isSticky, expected?.isSticky, what);
        assert.equal(found?.list, expected?.list, what);
      }
    }),
    { numRuns: 60 },
  );
});

const QUESTION: Question = { address: '10.96.0.1', port: 80, source: 'pod' };

it('prefers the exact address to a node port', () => {
  const { directory, thread } = testDirectory();
  directory.rows.apply({ set: testRow('exact') });
  const nodePort = { frontends: [testFrontend('', 80)], cluster: ['10.0.0.9 80'] };
  directory.rows.apply({ set: testRow('node-port', nodePort) });
  assert.deepEqual(thread.find(QUESTION)?.endpoints, ['10.0.0.1 80', '10.0.0.2 80']);
  const elsewhere = { ...QUESTION, address: '192.168.0.1' };
  assert.deepEqual(thread.find(elsewhere)?.endpoints, ['10.0.0.9 80']);
});

it('gives a frontend that two rows claim to the first key, and to the other when that one goes', () => {
  const a = testRow('a', { cluster: ['10.0.0.1 80'] });
  const b = testRow('b', { cluster: ['10.0.0.2 80'] });
  for (const rows of [
    [a, b],
    [b, a],
  ]) {
    const { directory, thread } = testDirectory();
    for (const row of rows) directory.rows.apply({ set: row });
    assert.deepEqual(thread.find(QUESTION)?.endpoints, a.cluster);
    directory.rows.apply({ delete: a.key });
    assert.deepEqual(thread.find(QUESTION)?.endpoints, b.cluster);
    directory.rows.apply({ delete: b.key });
    assert.equal(thread.find(QUESTION), undefined);
  }
});

it('tells threads of endpoints that left their row and have connections, and of no others', () => {
  const { directory, memory, gone, thread } = testDirectory();
  const row = testRow('web', { local: ['10.0.0.1 80'] });
  directory.rows.apply({ set: row });
  const slot = thread.slotOf(QUESTION, '10.0.0.1 80') ?? -1;
  memory.open[slot] = 1;
  const leave = { added: [], removed: ['10.0.0.1 80', '10.0.0.2 80'] };
  directory.rows.apply({ change: row.key, cluster: leave });
  assert.deepEqual(gone, [], 'it is in the other list');
  directory.rows.apply({ change: row.key, local: leave });
  assert.deepEqual(gone, [slot]);
});

describe('rows without room', () => {
  const endpoints = (count: number, number = 0) =>
    Array.from({ length: count }, (_, index) => `10.${number}.${index >> 8}.${index & 255} 80`);
  // Half of a thousand slots, one of which is nobody's.
  const SHARE = 499;

  it('are declined beyond the share of their namespace, and others have room', () => {
    const { directory, thread } = testDirectory();
    const { rows } = directory;
    rows.apply({ set: testRow('a', { cluster: endpoints(SHARE - 1) }) });
    const more = testRow('b', { frontends: [testFrontend('10.96.0.2', 80)] });
    rows.apply({ set: more });
    assert.ok(rows.isDeclined(more.key));
    assert.deepEqual(new Map(rows.digests()).get(more.key), DECLINED);
    assert.equal(thread.find({ ...QUESTION, address: '10.96.0.2' }), undefined);
    const other = { ...more, key: 'other/b/TCP/IPv4' };
    rows.apply({ set: other });
    assert.ok(!rows.isDeclined(other.key));
    assert.equal(thread.find({ ...QUESTION, address: '10.96.0.2' })?.endpoints.length, 2);
  });

  it('are declined when all rows of their namespace have too many frontends', () => {
    const { rows } = testDirectory().directory;
    const many = Array.from({ length: MOST_FRONTENDS / 2 }, (_, n) =>
      testFrontend(`10.${100 + (n >> 16)}.${(n >> 8) & 0xff}.${n & 0xff}`, 80),
    );
    const row = testRow('a', { frontends: many });
    rows.apply({ set: row });
    assert.ok(rows.isDeclined(row.key));
    const other = testRow('b');
    rows.apply({ set: other });
    assert.ok(!rows.isDeclined(other.key));
  });

  it('are declined when their namespace has too many rows', () => {
    const { rows } = testDirectory().directory;
    const empty = { frontends: [], cluster: [] };
    for (let n = 1; n < MOST_ROWS / 2; n++) rows.apply({ set: testRow(`flood${n}`, empty) });
    const more = testRow('more', empty);
    rows.apply({ set: more });
    assert.ok(rows.isDeclined(more.key));
    const other = { ...testRow('web'), key: 'other/web/TCP/IPv4' };
    rows.apply({ set: other });
    assert.ok(!rows.isDeclined(other.key));
  });

  it('keep what they have, and are taken when they are set again and fit', () => {
    const { directory, thread, slots } = testDirectory();
    const { rows } = directory;
    const row = testRow('a');
    rows.apply({ set: row });
    rows.apply({ change: row.key, cluster: { added: endpoints(SHARE, 1), removed: row.cluster } });
    assert.ok(rows.isDeclined(row.key));
    rows.apply({ change: row.key, cluster: { added: endpoints(1, 2), removed: row.cluster } });
    assert.deepEqual(thread.find(QUESTION)?.endpoints, row.cluster);
    rows.apply({ set: { ...row, cluster: endpoints(SHARE - 2, 1) } });
    assert.ok(!rows.isDeclined(row.key));
    assert.equal(thread.find(QUESTION)?.endpoints.length, SHARE - 2);
    rows.apply({ delete: row.key });
    for (let rounds = 0; rounds < 2; rounds++) slots.endRound(slots.beginRound());
    rows.apply({ set: testRow('b', { cluster: endpoints(SHARE, 3) }) });
    assert.ok(!rows.isDeclined('default/b/TCP/IPv4'), 'its slots are free again');
  });

  it('lose endpoints also when others have come and their share has shrunk', () => {
    const { directory, thread } = testDirectory();
    const { rows } = directory;
    const row = testRow('a', { cluster: endpoints(SHARE) });
    rows.apply({ set: row });
    const cluster = endpoints(200, 1);
    rows.apply({ set: { ...testRow('b', { cluster, frontends: [] }), key: 'other/b/TCP/IPv4' } });
    rows.apply({ change: row.key, cluster: { added: [], removed: row.cluster.slice(0, 10) } });
    assert.equal(thread.find(QUESTION)?.endpoints.length, SHARE - 10);
    assert.ok(!rows.isDeclined(row.key));
    rows.apply({ delete: row.key });
    assert.equal(thread.find(QUESTION), undefined);
    assert.equal([...rows.digests()].length, 1);
  });

  it('are those that nobody set before they changed', () => {
    const { directory } = testDirectory();
    directory.rows.apply({ change: 'a/b/TCP/IPv4' });
    assert.ok(directory.rows.isDeclined('a/b/TCP/IPv4'));
  });
});
