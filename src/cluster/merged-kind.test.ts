import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { MergedKind, mergedHealth } from './merged-kind.ts';
import type { ServiceObject } from './objects.ts';
import type { SourceEvent, SourceHealth } from './source.ts';

const PARTS = ['namespace a', 'namespace b', 'Service a/web'];

/** A Service with a version, which is all that these tests look at. */
function put(key: string, version: number): SourceEvent {
  const object = { name: key, createdAtSeconds: version } as ServiceObject;
  return { kind: 'service', type: 'put', key, object };
}

function gone(key: string): SourceEvent {
  return { kind: 'service', type: 'delete', key };
}

const SYNCED: SourceEvent = { kind: 'service', type: 'synced' };

function merging(parts = PARTS) {
  const told: string[] = [];
  const merged = new MergedKind({
    kind: 'service',
    parts,
    onEvent: (event) =>
      told.push(
        event.type === 'synced'
          ? 'synced'
          : `${event.type} ${event.key}${event.type === 'put' && event.kind === 'service' ? ` ${event.object.createdAtSeconds}` : ''}`,
      ),
  });
  return { merged, told };
}

describe('several reflectors of one kind', () => {
  it('are synced once, when all are', () => {
    const { merged, told } = merging();
    merged.take(0, SYNCED);
    merged.take(2, SYNCED);
    assert.deepEqual(told, []);
    merged.take(1, SYNCED);
    merged.take(1, SYNCED);
    assert.deepEqual(told, ['synced']);
  });

  it('delete an object when the last of them has lost it', () => {
    const { merged, told } = merging();
    merged.take(0, put('a/web', 1));
    merged.take(2, put('a/web', 1));
    merged.take(0, gone('a/web'));
    assert.deepEqual(told, ['put a/web 1', 'put a/web 1']);
    merged.take(2, gone('a/web'));
    merged.take(2, gone('a/web'));
    assert.deepEqual(told.slice(2), ['delete a/web']);
  });

  it('report an object as the first of them sees it, so that it does not go back in time', () => {
    const { merged, told } = merging();
    merged.take(0, put('a/web', 1));
    merged.take(0, put('a/web', 2));
    merged.take(2, put('a/web', 1));
    merged.take(2, put('a/web', 2));
    merged.take(2, put('a/web', 3));
    assert.deepEqual(told, ['put a/web 1', 'put a/web 2']);
    merged.take(0, gone('a/web'));
    merged.take(2, put('a/web', 4));
    assert.deepEqual(told.slice(2), ['put a/web 3', 'put a/web 4']);
  });

  it('go on without a forbidden one, and name it until it is read', () => {
    const { merged, told } = merging();
    merged.forbid(1);
    merged.take(0, SYNCED);
    merged.take(2, SYNCED);
    assert.deepEqual(told, ['synced']);
    assert.deepEqual(merged.forbidden, ['namespace b']);
    merged.take(1, put('b/x', 1));
    merged.take(1, SYNCED);
    assert.deepEqual(told, ['synced', 'put b/x 1']);
    assert.deepEqual(merged.forbidden, []);
  });

  it('are not synced if all are forbidden, nor made forbidden once they were read', () => {
    const { merged, told } = merging();
    for (const part of [0, 1, 2]) merged.forbid(part);
    assert.deepEqual(told, []);
    merged.take(0, SYNCED);
    assert.deepEqual(told, ['synced']);
    merged.forbid(0);
    assert.deepEqual(merged.forbidden, ['namespace b', 'Service a/web']);
  });
});

test('the merged objects are those that any reflector has', () => {
  const step = fc.record({
    part: fc.nat({ max: 2 }),
    key: fc.constantFrom('a', 'b'),
    isPut: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const had = PARTS.map(() => new Map<string, number>());
      const seen = new Map<string, number>();
      const merged = new MergedKind({
        kind: 'service',
        parts: PARTS,
        onEvent: (event) => {
          if (event.type === 'delete') assert.ok(seen.delete(event.key), 'deleted once');
          if (event.type !== 'put' || event.kind !== 'service') return;
          seen.set(event.key, event.object.createdAtSeconds);
        },
      });
      steps.forEach(({ part, key, isPut }, version) => {
        // A reflector reports a delete only of what it has.
        if (!isPut && !had[part]?.has(key)) return;
        if (isPut) had[part]?.set(key, version);
        else had[part]?.delete(key);
        merged.take(part, isPut ? put(key, version) : gone(key));
        for (const each of ['a', 'b']) {
          const versions = had.flatMap((objects) => objects.get(each) ?? []);
          assert.equal(seen.has(each), versions.length > 0, `${each} after step ${version}`);
          if (versions.length > 0) assert.ok(versions.includes(seen.get(each) ?? -1));
        }
      });
    }),
  );
});

test('merged health is that of the worst reflector', () => {
  const good: SourceHealth = {
    kind: 'slice',
    connected: true,
    lastHeardAtMs: 50,
    skippedCount: 1,
  };
  assert.deepEqual(mergedHealth('slice', [good, { ...good, lastHeardAtMs: 20 }], []), {
    ...good,
    lastHeardAtMs: 20,
    skippedCount: 2,
  });
  const bad = { ...good, connected: false, lastHeardAtMs: 0, lastError: 'first' };
  const worse = { ...bad, lastError: 'second' };
  assert.deepEqual(mergedHealth('slice', [good, bad, worse], ['namespace b']), {
    kind: 'slice',
    connected: false,
    lastHeardAtMs: 0,
    skippedCount: 3,
    lastError: 'first',
    forbidden: ['namespace b'],
  });
});
