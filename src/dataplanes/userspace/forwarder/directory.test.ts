import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import type { SourceClass } from '../../../forwarding/model.ts';
import type { WireChange, WireRow, WireTreatment } from '../protocol.ts';
import { rowDigest } from '../row-digest.ts';
import type { FrontendQuestion } from './messages.ts';
import { testDirectory, testFrontend, testRow } from './testing/directories.ts';
import { ThreadView } from './testing/thread-view.ts';

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
const question: fc.Arbitrary<FrontendQuestion> = fc.record({
  address: fc.constantFrom('10.96.0.1', '10.96.0.2', '192.168.0.1', 'fd00::1', 'fd00::2'),
  port: fc.constantFrom(...PORTS),
  source: fc.constantFrom(...SOURCES),
});
const step = fc.oneof(change, fc.record({ ask: question }), fc.constant('round' as const));

/** What the rows are after the change, by plain copying. */
function applied(rows: Map<string, WireRow>, change: WireChange): void {
  if ('set' in change) rows.set(change.set.key, change.set);
  else if ('delete' in change) rows.delete(change.delete);
  else {
    const before = rows.get(change.change);
    if (before === undefined) return;
    const list = (of: 'cluster' | 'local'): string[] => {
      const { added = [], removed = [] } = change[of] ?? {};
      return [...new Set(before[of]).difference(new Set(removed)).union(new Set(added))];
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

it('has the same digests and tells threads the same as if the last rows were the first', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.array(question), async (steps, last) => {
      const { directory, slots } = testDirectory({ listPartSize: 1 });
      const thread = new ThreadView();
      const rows = new Map<string, WireRow>();
      const asked: FrontendQuestion[] = [];
      const ask = (frontend: FrontendQuestion) => {
        directory.ask(thread, { tell: 'ask', frontend });
        asked.push(frontend);
      };
      for (const each of steps) {
        if (each === 'round') {
          slots.endRound(slots.beginRound());
          directory.tick();
          await setImmediate();
        } else if ('ask' in each) ask(each.ask);
        else if (!('change' in each) || rows.has(each.change)) {
          directory.apply(each);
          applied(rows, each);
        }
        directory.flush();
      }
      // Of a frontend that was gone in between the next connection asks again.
      for (const each of asked.filter((one) => thread.target(one) === null)) ask(each);
      for (const each of last) ask(each);
      // No thread has more than four endpoints of six lists still to get.
      for (let parts = 0; parts < 4 * 6; parts++) await setImmediate();

      const { directory: fresh } = testDirectory();
      for (const each of rows.values()) fresh.apply({ set: each });
      const freshThread = new ThreadView();
      for (const each of rows.values()) {
        assert.equal(directory.rows.digest(each.key), rowDigest(each), each.key);
      }
      assert.deepEqual([...directory.rows.keys()].sort(), [...rows.keys()].sort());
      for (const each of asked) {
        fresh.ask(freshThread, { tell: 'ask', frontend: each });
        const told = thread.target(each);
        const expected = freshThread.target(each);
        assert.deepEqual(thread.endpoints(each), freshThread.endpoints(each));
        assert.equal(told?.masquerade, expected?.masquerade, JSON.stringify(each));
        assert.equal(told?.isSticky, expected?.isSticky);
      }
      directory.close();
      fresh.close();
    }),
    { numRuns: 2_000 },
  );
});

const QUESTION: FrontendQuestion = { address: '10.96.0.1', port: 80, source: 'pod' };

it('prefers the exact address to a node port', () => {
  const { directory } = testDirectory();
  const thread = new ThreadView();
  directory.apply({ set: testRow('exact') });
  const nodePort = { frontends: [testFrontend('', 80)], cluster: ['10.0.0.9 80'] };
  directory.apply({ set: testRow('node-port', nodePort) });
  directory.ask(thread, { tell: 'ask', frontend: QUESTION });
  assert.deepEqual(thread.endpoints(QUESTION), ['10.0.0.1 80', '10.0.0.2 80']);
  const elsewhere = { ...QUESTION, address: '192.168.0.1' };
  directory.ask(thread, { tell: 'ask', frontend: elsewhere });
  assert.deepEqual(thread.endpoints(elsewhere), ['10.0.0.9 80']);
});

it('tells a waiting thread of a frontend that appears in time, and others that there is none', async () => {
  const { directory } = testDirectory();
  const thread = new ThreadView();
  directory.ask(thread, { tell: 'ask', frontend: QUESTION });
  assert.equal(thread.target(QUESTION), undefined);
  directory.apply({ set: testRow('web') });
  directory.flush();
  assert.deepEqual(thread.endpoints(QUESTION), ['10.0.0.1 80', '10.0.0.2 80']);
  const unknown = { ...QUESTION, port: 81 };
  directory.ask(thread, { tell: 'ask', frontend: unknown });
  while (thread.target(unknown) === undefined) await new Promise((resolve) => setTimeout(resolve));
  assert.equal(thread.target(unknown), null);
});

it('sends a change of one endpoint to the threads that asked, and nothing else', () => {
  const { directory } = testDirectory();
  const [first, second] = [new ThreadView(), new ThreadView()];
  const row = testRow('web', { local: ['10.0.0.1 80'] });
  directory.apply({ set: row });
  directory.ask(first, { tell: 'ask', frontend: QUESTION });
  first.messages.length = 0;
  directory.apply({ change: row.key, cluster: { added: ['10.0.0.3 80'], removed: [] } });
  directory.apply({ change: row.key, local: { added: ['10.0.0.3 80'], removed: [] } });
  directory.flush();
  assert.deepEqual(
    first.messages.map(({ tell }) => tell),
    ['list-change'],
  );
  assert.equal(second.messages.length, 0);
});

it('changes a target once when its address moves to another row', () => {
  const { directory } = testDirectory();
  const thread = new ThreadView();
  const row = testRow('web');
  directory.apply({ set: row });
  directory.ask(thread, { tell: 'ask', frontend: QUESTION });
  thread.messages.length = 0;
  directory.apply({ delete: row.key });
  directory.apply({ set: testRow('other', { cluster: ['10.0.0.7 80'] }) });
  directory.flush();
  assert.deepEqual(
    thread.messages.map(({ tell }) => tell),
    ['list', 'target', 'list-gone'],
  );
  assert.deepEqual(thread.endpoints(QUESTION), ['10.0.0.7 80']);
});

it('tells a long list in parts, and at once what changes in it', async () => {
  const { directory } = testDirectory({ listPartSize: 100 });
  const thread = new ThreadView();
  const cluster = Array.from({ length: 450 }, (_, index) => `10.0.${index >> 8}.${index & 255} 80`);
  const row = testRow('long', { cluster });
  directory.apply({ set: row });
  directory.ask(thread, { tell: 'ask', frontend: QUESTION });
  assert.equal(thread.endpoints(QUESTION)?.length, 100);
  const [told = '', untold = ''] = [cluster[0], cluster[449]];
  const change = { added: ['10.1.0.1 80'], removed: [told, untold] };
  directory.apply({ change: row.key, cluster: change });
  assert.equal(thread.endpoints(QUESTION)?.length, 100);
  for (let parts = 0; parts < 5; parts++) await setImmediate();
  const wanted = [...cluster.slice(1, 449), '10.1.0.1 80'].sort();
  assert.deepEqual(thread.endpoints(QUESTION), wanted);
  directory.apply({ delete: row.key });
  directory.flush();
  assert.equal(thread.listCount, 0);
});

it('tells all of a long list before the main thread chooses from it', () => {
  const { directory } = testDirectory({ listPartSize: 1 });
  const thread = new ThreadView();
  directory.apply({ set: testRow('long', { affinitySeconds: 10 }) });
  directory.ask(thread, { tell: 'ask', frontend: QUESTION });
  assert.equal(thread.endpoints(QUESTION)?.length, 2);
});

it('rejects a change of a row that is not there', () => {
  const { directory } = testDirectory();
  assert.throws(() => directory.apply({ change: 'a/b/TCP/IPv4' }), { name: 'UnknownRowError' });
});
