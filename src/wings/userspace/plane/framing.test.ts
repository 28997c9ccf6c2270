import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameReader, frame } from './framing.ts';

const framed = (message: unknown) => Buffer.concat(frame(JSON.stringify(message)));
const MESSAGES = [{ do: 'hello' }, 'ü', ['x'.repeat(1000)], null];

for (const step of [1, 3, 7, 100_000]) {
  test(`reads messages that come in chunks of ${step} bytes`, () => {
    const bytes = Buffer.concat(MESSAGES.map(framed));
    const reader = new FrameReader();
    const read: unknown[] = [];
    for (let at = 0; at < bytes.length; at += step) {
      read.push(...reader.push(bytes.subarray(at, at + step)));
    }
    assert.deepEqual(read, MESSAGES);
  });
}

test('rejects a frame that is longer than the limit before it has arrived', () => {
  const reader = new FrameReader(10);
  assert.deepEqual(reader.push(framed('12345678')), ['12345678']);
  assert.throws(() => reader.push(framed('123456789').subarray(0, 5)), RangeError);
});
