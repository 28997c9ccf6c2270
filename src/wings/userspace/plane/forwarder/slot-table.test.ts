import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpointCounts, totalCounts } from './requests.ts';
import { COUNT, COUNT_FIELDS } from './slots.ts';
import { testDirectory, testFrontend, testRow } from './testing/directories.ts';
import type { Question } from './testing/thread-view.ts';

const QUESTION: Question = { address: '10.96.0.1', port: 80, source: 'pod' };
const FIRST = '10.0.0.1 80';

function served() {
  const { directory, memory, slots, clock, thread } = testDirectory();
  const row = testRow('web', { local: [FIRST] });
  directory.rows.apply({ set: row });
  const slot = thread.slotOf(QUESTION, FIRST) ?? -1;
  const count = (name: keyof typeof COUNT, value: number, number = 0) => {
    const counts = memory.counts[number];
    if (counts !== undefined) counts[slot * COUNT_FIELDS + COUNT[name]] = value;
  };
  const remove = (list: 'cluster' | 'local') => {
    directory.rows.apply({ change: row.key, [list]: { added: [], removed: [FIRST] } });
  };
  const add = () => {
    directory.rows.apply({ change: row.key, cluster: { added: [FIRST], removed: [] } });
  };
  const round = () => slots.endRound(slots.beginRound());
  return { directory, memory, slots, clock, thread, row, slot, count, remove, add, round };
}

describe('slots', () => {
  it('stay with an endpoint until it has left both lists of its row', () => {
    const { slots, slot, remove, round } = served();
    remove('cluster');
    assert.equal(slots.isLeaving(slot), false);
    remove('local');
    assert.equal(slots.isLeaving(slot), true);
    for (let count = 0; count < 2; count++) round();
    assert.equal(slots.identity(slot).row, '');
  });

  it('keep their identity while connections are open', () => {
    const { slots, slot, remove, round, memory, row } = served();
    memory.open[slot] = 1;
    remove('cluster');
    remove('local');
    for (let count = 0; count < 5; count++) round();
    assert.deepEqual(slots.identity(slot), { row: row.key, endpoint: FIRST });
    memory.open[slot] = 0;
    for (let count = 0; count < 2; count++) round();
    assert.equal(slots.identity(slot).row, '');
    assert.equal(slots.isLeaving(slot), false);
  });

  it('are not reused by a round that began before the threads were told', () => {
    const { slots, slot, remove } = served();
    const early = slots.beginRound();
    remove('cluster');
    remove('local');
    slots.endRound(early);
    const second = slots.beginRound();
    slots.endRound(second);
    assert.notEqual(slots.identity(slot).row, '', 'one round is not enough');
    slots.endRound(slots.beginRound());
    assert.equal(slots.identity(slot).row, '');
  });

  it('are the same for an endpoint that returns in time, with its counts', () => {
    const { slots, slot, remove, add, round, thread, count } = served();
    count('connections', 3);
    remove('cluster');
    remove('local');
    round();
    add();
    for (let rounds = 0; rounds < 3; rounds++) round();
    assert.equal(thread.slotOf(QUESTION, FIRST), slot);
    assert.equal(slots.counts(slot).connections, 3);
  });

  it('have no counts when another endpoint gets them', () => {
    const { slots, slot, remove, round, count, directory, memory, row } = served();
    count('connections', 3);
    count('bytesToClient', 100, 1);
    memory.avoided[slot] = 5;
    remove('cluster');
    remove('local');
    for (let rounds = 0; rounds < 2; rounds++) round();
    directory.rows.apply({ change: row.key, cluster: { added: ['10.0.0.9 80'], removed: [] } });
    assert.deepEqual(slots.identity(slot), { row: row.key, endpoint: '10.0.0.9 80' });
    assert.ok(Object.values(slots.counts(slot)).every((each) => each === 0));
    assert.equal(slots.avoidedUntilMs(slot), 0);
  });

  it('end with their row', () => {
    const { slots, slot, directory, row, round } = served();
    directory.rows.apply({ delete: row.key });
    for (let rounds = 0; rounds < 2; rounds++) round();
    assert.equal(slots.identity(slot).row, '');
    assert.deepEqual([...slots.slots()], []);
  });
});

describe('counts', () => {
  it('are sums over threads, of endpoints that are in a row and were used', () => {
    const { directory, count, memory, slot, clock, row } = served();
    count('connections', 3);
    count('connections', 4, 1);
    memory.open[slot] = 2;
    memory.avoided[slot] = clock.nowMs / 100 + 15;
    const [only, ...others] = endpointCounts(directory, clock.nowMs);
    assert.deepEqual(others, []);
    assert.deepEqual(only, {
      row: row.key,
      endpoint: FIRST,
      connections: 7,
      open: 2,
      bytesToEndpoint: 0,
      bytesToClient: 0,
      connectMicroseconds: 0,
      refused: 0,
      timedOut: 0,
      avoidedMs: 1_500,
    });
    assert.equal(totalCounts(directory, clock.nowMs).avoidedEndpoints, 1);
  });

  it('of endpoints that left are in the totals only, which never fall', () => {
    const { directory, count, remove, round, clock } = served();
    count('connections', 3);
    const total = () => totalCounts(directory, clock.nowMs).connections;
    assert.equal(total(), 3);
    remove('cluster');
    remove('local');
    assert.deepEqual([...endpointCounts(directory, clock.nowMs)], []);
    assert.equal(total(), 3);
    for (let rounds = 0; rounds < 3; rounds++) round();
    assert.equal(total(), 3);
  });

  it('survive a frontend that goes and comes back', () => {
    const { directory, count, slots, slot, row, thread } = served();
    count('connections', 3);
    directory.rows.apply({ change: row.key, frontends: [] });
    assert.equal(thread.find(QUESTION), undefined);
    directory.rows.apply({ change: row.key, frontends: [testFrontend('10.96.0.1', 80)] });
    assert.equal(thread.slotOf(QUESTION, FIRST), slot);
    assert.equal(slots.counts(slot).connections, 3);
  });
});
