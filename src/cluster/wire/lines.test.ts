import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from './json-encoding.ts';

function split(chunks: readonly Buffer[], maxLineBytes?: number): (string | undefined)[] {
  const splitter = new LineSplitter(maxLineBytes === undefined ? {} : { maxLineBytes });
  return chunks
    .flatMap((chunk) => [...splitter.push(chunk)])
    .map((line) => (line === undefined ? undefined : line.toString('latin1')));
}

it('returns the same lines for any chunks', () => {
  const bytes = fc.array(fc.oneof(fc.constant(0x0a), fc.integer({ min: 0, max: 255 })));
  fc.assert(
    fc.property(bytes, fc.array(fc.nat({ max: 64 })), (all, cuts) => {
      const whole = Buffer.from(all);
      const places = [...new Set(cuts.map((cut) => Math.min(cut, whole.length)))].sort(
        (a, b) => a - b,
      );
      const chunks = [0, ...places].map((start, index) => whole.subarray(start, places[index]));
      const expected = whole.toString('latin1').split('\n').slice(0, -1);
      assert.deepEqual(
        split(chunks),
        expected.filter((line) => line !== ''),
      );
    }),
  );
});

it('drops a line that is too long, and continues with the next', () => {
  const chunks = ['123', '45', '67', '8\nnext\n123456\nlast\n'].map((text) => Buffer.from(text));
  assert.deepEqual(split(chunks, 5), [undefined, 'next', '123456', 'last']);
});

it('takes linear time for a long line in many chunks', () => {
  const splitter = new LineSplitter();
  const part = Buffer.alloc(16, 0x61);
  const parts = 200_000;
  const begun = performance.now();
  for (let i = 0; i < parts; i++) assert.deepEqual([...splitter.push(part)], []);
  const [line] = [...splitter.push(Buffer.from('\n'))];
  assert.equal(line?.length, parts * part.length);
  // Joining again for each chunk would copy 320 GB.
  assert.ok(performance.now() - begun < 10_000);
});
