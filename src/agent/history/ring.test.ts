import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { HistoryEntry } from './history-entry.ts';
import { HistoryRing, type RingLimits } from './ring.ts';

let seq = 0;

function entry(service: string, weight = 300, atMs = ++seq): HistoryEntry {
  const none = { settled: undefined, settledAfterMs: undefined, again: undefined };
  return { seq: ++seq, service, atMs, kind: 'first sync', text: '', weight, ...none };
}

function filled(limits: RingLimits, services: readonly string[]): HistoryRing {
  const ring = new HistoryRing(limits);
  for (const service of services) ring.push(entry(service));
  return ring;
}

const times = (count: number, text: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => text(index));

describe('HistoryRing', () => {
  const LIMITS = { entries: 100, bytes: 1_000_000 };

  it('keeps the entries of others when one Service changes all the time', () => {
    const quiet = times(10, (index) => `ns${index}/quiet`);
    const ring = filled(LIMITS, [...quiet, ...times(5_000, () => 'loud/web')]);
    assert.equal(ring.size, 100);
    for (const service of quiet) assert.equal(ring.of(service).length, 1);
    assert.equal(ring.of('loud/web').length, 90);
  });

  it('keeps the entries of others when one namespace has ten thousand Services', () => {
    const quiet = times(10, (index) => `ns${index}/quiet`);
    const ring = filled(LIMITS, [...quiet, ...times(10_000, (index) => `loud/web${index}`)]);
    for (const service of quiet) assert.equal(ring.of(service).length, 1);
  });

  it('keeps the entries of a quiet Service beside a loud one of its namespace', () => {
    const ring = filled(LIMITS, ['ns/quiet', ...times(5_000, () => 'ns/loud')]);
    assert.equal(ring.of('ns/quiet').length, 1);
  });

  it('bounds the bytes, at the expense of the namespace with the largest entries', () => {
    const ring = filled(
      { entries: 1_000, bytes: 100_000 },
      times(50, () => 'small/web'),
    );
    for (let index = 0; index < 1_000; index++) ring.push(entry('large/web', 5_000));
    assert.ok(ring.weight <= 100_000);
    assert.equal(ring.of('small/web').length, 50);
  });

  it('keeps the newest entry, also if it is the largest', () => {
    const ring = filled(
      { entries: 10, bytes: 3_000 },
      times(10, (index) => `ns${index}/web`),
    );
    const large = entry('large/web', 2_900);
    ring.push(large);
    assert.deepEqual([...ring.all()], [large]);
  });

  it('says up to when entries of a Service may be missing, also if it has none left', () => {
    const ring = filled({ entries: 2, bytes: 1_000_000 }, []);
    ring.push(entry('a/web', 300, 1));
    assert.equal(ring.droppedUpToMs('a/web'), Number.NEGATIVE_INFINITY);
    ring.push(entry('b/web', 300, 2));
    ring.push(entry('c/web', 300, 3));
    assert.equal(ring.of('a/web').length, 0);
    assert.equal(ring.droppedUpToMs('a/web'), 1);
    assert.equal(ring.droppedCount, 1);
  });

  it('is bounded, in order, and never loses an entry that droppedUpToMs does not cover', () => {
    const pushes = fc.array(fc.tuple(fc.nat(4), fc.nat(4), fc.integer({ min: 1, max: 900 })), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(pushes, (all) => {
        const ring = new HistoryRing({ entries: 20, bytes: 5_000 });
        const made = all.map(([namespace, name, weight]) =>
          entry(`n${namespace}/s${name}`, weight),
        );
        for (const each of made) ring.push(each);
        const kept = [...ring.all()];
        assert.ok(kept.length <= 20 && ring.weight <= 5_000);
        assert.equal(
          ring.weight,
          kept.reduce((sum, { weight }) => sum + weight, 0),
        );
        assert.equal(kept.length + ring.droppedCount, made.length);
        assert.equal(kept.at(-1), made.at(-1));
        assert.deepEqual(
          kept,
          kept.toSorted((a, b) => a.seq - b.seq),
        );
        for (const each of made) {
          const isKept = ring.of(each.service).includes(each);
          assert.equal(isKept, kept.includes(each));
          assert.ok(isKept || each.atMs <= ring.droppedUpToMs(each.service));
        }
      }),
    );
  });
});
