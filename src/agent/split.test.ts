import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitUntilDone, type TotalFailure } from './split.ts';

interface Outcome {
  readonly done: number[];
  readonly rejected: number[];
  readonly total: TotalFailure<number, string> | undefined;
  readonly calls: number;
}

async function split(size: number, bad: ReadonlySet<number>, isNamed: boolean): Promise<Outcome> {
  const done: number[] = [];
  const rejected: number[] = [];
  let calls = 0;
  const units = Array.from({ length: size }, (_, index) => index);
  const total = await splitUntilDone<number, string>(units, {
    attempt: async (part) => {
      calls++;
      const culprit = part.find((unit) => bad.has(unit));
      if (culprit !== undefined) return String(culprit);
      done.push(...part);
      return undefined;
    },
    culpritOf: (rejection) => (isNamed ? Number(rejection) : undefined),
    reject: (unit) => void rejected.push(unit),
    maxFailuresInARow: 16,
    signal: new AbortController().signal,
  });
  return { done, rejected, total, calls };
}

test('ends with every unit done, blamed or left over, once; the blamed are bad, the done are good', async () => {
  const inputs = fc.record({
    size: fc.integer({ min: 1, max: 128 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    seed: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
    isNamed: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(inputs, async ({ size, share, seed, isNamed }) => {
      const bad = new Set(
        Array.from({ length: size }, (_, i) => i).filter(() => seed.next().value < share),
      );
      const { done, rejected, total } = await split(size, bad, isNamed);
      const all = [...done, ...rejected, ...(total?.rest ?? [])].sort((a, b) => a - b);
      assert.deepEqual(
        all,
        Array.from({ length: size }, (_, index) => index),
      );
      assert.ok(done.every((unit) => !bad.has(unit)));
      assert.ok(rejected.every((unit) => bad.has(unit)));
    }),
  );
});

test('finds one bad unit with few calls', async () => {
  for (const position of [0, 63, 127]) {
    assert.ok((await split(128, new Set([position]), false)).calls <= 15);
    assert.equal((await split(128, new Set([position]), true)).calls, 2);
  }
});

test('does not mistake many adjacent bad units for a plane that rejects everything', async () => {
  for (const isNamed of [true, false]) {
    const bad = new Set(Array.from({ length: 20 }, (_, index) => index));
    const { done, rejected, total } = await split(128, bad, isNamed);
    assert.equal(total, undefined);
    assert.equal(done.length, 108);
    assert.equal(rejected.length, 20);
  }
});

test('makes few calls when everything fails, whichever unit is named', async () => {
  for (const isNamed of [true, false]) {
    const bad = new Set(Array.from({ length: 128 }, (_, index) => index));
    const { calls, total } = await split(128, bad, isNamed);
    assert.ok(calls <= 17, `${calls} calls`);
    assert.ok((total?.rest.length ?? 0) > 100);
  }
});
