import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ListMemory } from './row-writer.ts';

it('gives no word twice, and all of them again when all are freed', () => {
  const exponents = fc.array(fc.oneof(fc.nat(6), fc.constant('free' as const)));
  fc.assert(
    fc.property(exponents, fc.infiniteStream(fc.nat()), (steps, order) => {
      const memory = new ListMemory(6);
      const taken: { start: number; exponent: number }[] = [];
      const free = (): void => {
        const [block] = taken.splice((order.next().value ?? 0) % taken.length, 1);
        if (block) memory.free(block.start, block.exponent);
      };
      for (const step of steps) {
        if (step === 'free') {
          if (taken.length > 0) free();
          continue;
        }
        const start = memory.take(step);
        if (start !== undefined) taken.push({ start, exponent: step });
        const words = taken.flatMap((each) =>
          Array.from({ length: 2 ** each.exponent }, (_, index) => each.start + index),
        );
        assert.equal(new Set(words).size, words.length);
        assert.ok(words.every((word) => word < 64));
      }
      while (taken.length > 0) free();
      assert.equal(memory.take(6), 0);
    }),
  );
});

it('has no room beyond what it has', () => {
  const memory = new ListMemory(2);
  assert.deepEqual([memory.take(1), memory.take(1), memory.take(0)], [0, 2, undefined]);
  assert.equal(memory.take(3), undefined);
});
