import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Admittable, ConnectionBudget, limitsFor, sourceKey } from './connection-budget.ts';

class FakeConnection implements Admittable {
  readonly source: string;
  isEvicted = false;

  constructor(source: string) {
    this.source = source;
  }

  evict(): void {
    this.isEvicted = true;
  }
}

interface Scene {
  readonly budget: ConnectionBudget;
  admit(source: string): FakeConnection;
}

function scene(more: { total?: number; perSource?: number; unreadBytes?: number } = {}): Scene {
  const budget = new ConnectionBudget({ total: 4, perSource: 4, unreadBytes: 100, ...more });
  const admit = (source: string): FakeConnection => {
    const connection = new FakeConnection(source);
    budget.admit(connection);
    return connection;
  };
  return { budget, admit };
}

const evicted = (connections: readonly FakeConnection[]): boolean[] =>
  connections.map(({ isEvicted }) => isEvicted);

describe('the budget of connections', () => {
  it('evicts the oldest connection of the source with the most, never the newcomer', () => {
    const { admit } = scene();
    const probe = admit('kubelet');
    const flood = [admit('pod'), admit('pod'), admit('pod')];
    const other = admit('load balancer');
    assert.deepEqual(evicted([probe, other]), [false, false]);
    assert.deepEqual(evicted(flood), [true, false, false]);
  });

  it('evicts the longest inactive connection when every source has one', () => {
    const { budget, admit } = scene();
    const [first, second] = [admit('a'), admit('b')];
    admit('c');
    admit('d');
    budget.touch(first);
    const newcomer = admit('e');
    assert.deepEqual(evicted([first, second, newcomer]), [false, true, false]);
  });

  it('evicts from a source that exceeds its share, even while there is room', () => {
    const { budget, admit } = scene({ total: 100, perSource: 2 });
    const [first, second] = [admit('pod'), admit('pod')];
    budget.touch(first);
    const third = admit('pod');
    assert.deepEqual(evicted([first, second, third]), [false, true, false]);
    assert.equal(budget.evictedCount, 1);
  });

  it('evicts the oldest unread answers beyond their bytes', () => {
    const { budget, admit } = scene();
    const [first, second, third] = [admit('a'), admit('b'), admit('c')];
    budget.holdUnread(first, 60);
    budget.holdUnread(second, 40);
    assert.deepEqual(evicted([first, second]), [false, false]);
    budget.holdUnread(first, 0);
    budget.holdUnread(third, 60);
    budget.holdUnread(first, 30);
    assert.deepEqual(evicted([first, second, third]), [false, true, false]);
  });

  it('counts open connections, and evicts from a largest share, for any sequence', () => {
    const act = fc.record({ kind: fc.constantFrom('admit', 'leave', 'touch'), of: fc.nat(5) });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 200 }), (acts) => {
        const { budget, admit } = scene({ total: 6, perSource: 4 });
        let there: FakeConnection[] = [];
        const sizeOf = (source: string): number =>
          there.filter((connection) => connection.source === source).length;
        for (const { kind, of: client } of acts) {
          const known = there[client];
          if (kind === 'admit') {
            const newcomer = admit(`source ${client}`);
            there.push(newcomer);
            const victim = there.find(({ isEvicted }) => isEvicted);
            const largest = Math.max(...there.map(({ source }) => sizeOf(source)));
            assert.ok(!newcomer.isEvicted);
            if (victim) assert.equal(sizeOf(victim.source), largest);
          } else if (known && kind === 'leave') {
            budget.leave(known);
            there = there.filter((connection) => connection !== known);
          } else if (known) budget.touch(known);
          there = there.filter(({ isEvicted }) => !isEvicted);
          assert.equal(budget.count, there.length);
          assert.ok(budget.count <= 6);
          assert.ok(there.every(({ source }) => sizeOf(source) <= 4));
        }
      }),
    );
  });

  it('leaves most file descriptors to the rest of the process', () => {
    assert.deepEqual([limitsFor(1024).total, limitsFor(1024).perSource], [256, 64]);
    assert.equal(limitsFor(1_048_576).total, 1024);
    assert.equal(limitsFor(Number.POSITIVE_INFINITY).total, 1024);
  });
});

it('counts the clients of an IPv6 /64 as one, and an IPv4 client as the same in both spellings', () => {
  assert.equal(sourceKey('::ffff:10.0.0.1'), sourceKey('10.0.0.1'));
  assert.notEqual(sourceKey('10.0.0.1'), sourceKey('10.0.0.2'));
  assert.equal(sourceKey('fd00:1:2:3::1'), sourceKey('fd00:1:2:3:ffff::2'));
  assert.notEqual(sourceKey('fd00:1:2:3::1'), sourceKey('fd00:1:2:4::1'));
  assert.equal(sourceKey('fe80::1%eth0'), sourceKey('fe80::2%eth1'));
  assert.equal(sourceKey(undefined), sourceKey(undefined));
});
