import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Affinity } from './affinity.ts';
import type { Row } from './row-store.ts';
import { testDirectory, testRow } from './testing/directories.ts';
import type { Question } from './testing/thread-view.ts';

const QUESTION: Question = { address: '10.96.0.1', port: 80, source: 'pod' };

/** A sticky row with ten endpoints, and a thread that asks for clients. */
function sticky(affinitySeconds = 10) {
  const { directory, clock, memory, thread, gone } = testDirectory();
  const cluster = Array.from({ length: 10 }, (_, index) => `10.0.0.${index} 80`);
  const row = testRow('web', { affinitySeconds, cluster });
  directory.rows.apply({ set: row });
  const stick = (client: string, not: readonly number[] = []): number | null => {
    const { row: number, list } = thread.find(QUESTION) ?? { row: 0, list: 'cluster' };
    return directory.stick({ row: number, list, client, not });
  };
  return { directory, clock, memory, thread, gone, row, stick };
}

describe('affinity', () => {
  it('sends a client to its endpoint until its time is over, which a connection renews', () => {
    const { stick, clock, memory } = sticky();
    const slot = stick('1.1.1.1') ?? -1;
    // Hardly another choice falls on it.
    memory.open[slot] = 100;
    for (let count = 0; count < 5; count++) {
      clock.nowMs += 9_000;
      assert.equal(stick('1.1.1.1'), slot);
    }
    clock.nowMs += 10_001;
    // Only where both draws fall on it: 10 of 1,000, and 100 by one draw.
    const others = Array.from({ length: 1_000 }, (_, index) => stick(`client-${index}`));
    assert.ok(new Set(others).size > 1);
    assert.ok(others.filter((other) => other === slot).length < 40, 'chosen by open connections');
  });

  it('remembers another endpoint after a failed dial', () => {
    const { stick } = sticky();
    const slot = stick('1.1.1.1') ?? -1;
    const other = stick('1.1.1.1', [slot]);
    assert.notEqual(other, slot);
    assert.equal(stick('1.1.1.1'), other);
  });

  it('has no endpoint when all have failed', () => {
    const { stick } = sticky();
    const all = Array.from({ length: 10 }, (_, index) => index + 1);
    assert.equal(stick('1.1.1.1', all), null);
  });

  it('avoids an endpoint that failed, unless no other is left', () => {
    const { stick, memory, clock } = sticky();
    memory.avoided.fill(clock.nowMs / 100 + 10, 1, 11);
    memory.avoided[4] = 0;
    for (let client = 0; client < 20; client++) assert.equal(stick(`1.1.1.${client}`), 4);
    memory.avoided[4] = clock.nowMs / 100 + 10;
    assert.notEqual(stick('2.2.2.2'), null);
  });

  it('forgets the clients of an endpoint that left, and only those', () => {
    const { directory, stick, row, clock } = sticky();
    const slots = Array.from({ length: 100 }, (_, index) => stick(`1.1.1.${index}`));
    const gone = slots[0] ?? -1;
    const { endpoint = '' } = directory.slots.identity(gone) ?? {};
    directory.rows.apply({ change: row.key, cluster: { added: [], removed: [endpoint] } });
    const left = slots.filter((slot) => slot !== gone).length;
    assert.equal(directory.affinity.clientCount, left);
    clock.nowMs += 1_000;
    for (const [index, slot] of slots.entries()) {
      if (slot !== gone) assert.equal(stick(`1.1.1.${index}`), slot);
      else assert.notEqual(stick(`1.1.1.${index}`), gone);
    }
  });

  it('counts the connection of a client, so that threads hear when its endpoint leaves', () => {
    const { directory, stick, row, memory, gone } = sticky();
    const slot = stick('1.1.1.1') ?? -1;
    assert.equal(memory.open[slot], 1);
    const { endpoint } = directory.slots.identity(slot);
    directory.rows.apply({ change: row.key, cluster: { added: [], removed: [endpoint] } });
    assert.deepEqual(gone, [slot]);
  });

  it('forgets everything when the row loses its affinity or is deleted', () => {
    const { directory, stick, row, thread } = sticky();
    stick('1.1.1.1');
    directory.rows.apply({ change: row.key, affinitySeconds: 0 });
    assert.equal(directory.affinity.clientCount, 0);
    assert.equal(thread.find(QUESTION)?.isSticky, false);
    directory.rows.apply({ change: row.key, affinitySeconds: 10 });
    stick('1.1.1.1');
    directory.rows.apply({ delete: row.key });
    assert.equal(directory.affinity.clientCount, 0);
  });

  it('has an endpoint for a client that asked before its row lost the frontend', () => {
    const { directory, row, thread } = sticky();
    const { row: number, list } = thread.find(QUESTION) ?? { row: 0, list: 'cluster' };
    directory.rows.apply({ change: row.key, frontends: [] });
    assert.notEqual(directory.stick({ row: number, list, client: '1.1.1.1', not: [] }), null);
    directory.rows.apply({ delete: row.key });
    assert.equal(directory.stick({ row: number, list, client: '1.1.1.1', not: [] }), null);
  });
});

describe('limits of affinity', () => {
  const ROW: Row = {
    key: 'default/web/TCP/IPv4',
    family: 'IPv4',
    affinitySeconds: 10,
    number: 1,
    frontends: [],
    slots: new Map(),
  };

  it('stores no client beyond the limit of a list and the share of a namespace', () => {
    const affinity = new Affinity({ nowMs: () => 0, mostClients: 10, mostClientsOfAList: 3 });
    const flood = (key: string): number => {
      const before = affinity.clientCount;
      for (let client = 0; client < 10; client++) {
        const row = key === ROW.key ? ROW : { ...ROW, key };
        const entry = { row, client: `1.1.1.${client}`, slot: 1, renewedAtMs: 0 };
        affinity.remember({ ...entry, list: 'cluster' });
      }
      return affinity.clientCount - before;
    };
    assert.equal(flood(ROW.key), 3);
    assert.equal(flood('default/other/TCP/IPv4'), 2, 'half of all is the share of one');
    assert.equal(flood('neighbour/web/TCP/IPv4'), 2, 'half of what is left');
    assert.deepEqual(affinity.full(), [ROW.key]);
    assert.equal(affinity.slotOf(ROW, 'cluster', '1.1.1.2'), 1);
    assert.equal(affinity.slotOf(ROW, 'cluster', '1.1.1.3'), undefined);
  });

  it('has room again when the time of clients is over, without a timer for each', () => {
    let nowMs = 0;
    const affinity = new Affinity({ nowMs: () => nowMs });
    for (let client = 0; client < 20_000; client++) {
      const entry = { row: ROW, client: `c${client}`, slot: client % 7, renewedAtMs: nowMs };
      affinity.remember({ ...entry, list: 'cluster' });
    }
    nowMs = 10_001;
    for (let ticks = 0; ticks < 6; ticks++) affinity.tick();
    assert.equal(affinity.clientCount, 0);
  });
});
