import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchPace } from './ipvs-exchange.ts';

/** The time of each send, where a message of 128 bytes takes the kernel so long. */
function sendsOf(messageMs: number, count: number): number[] {
  const pace = new BatchPace();
  return Array.from({ length: count }, () => {
    const { bytes } = pace;
    const tookMs = (bytes / 128) * messageMs;
    pace.sent(bytes, tookMs);
    return tookMs;
  });
}

test('sends much at once where the kernel is fast', () => {
  const pace = new BatchPace();
  for (let send = 0; send < 4; send++) pace.sent(pace.bytes, 0.2);
  assert.equal(pace.bytes, 30 * 1024);
});

test('keeps a send short where each message makes the kernel fill a table', () => {
  const [first = 0, ...others] = sendsOf(0.3, 20);
  assert.ok(first < 10, `${first} ms`);
  assert.ok(Math.max(...others) <= 4.01, `${others.join()} ms`);
});

test('follows a kernel that becomes slow and fast again', () => {
  const pace = new BatchPace();
  for (let send = 0; send < 4; send++) pace.sent(pace.bytes, 0.2);
  pace.sent(30 * 1024, 120);
  assert.equal(pace.bytes, 1024);
  for (let send = 0; send < 5; send++) pace.sent(pace.bytes, 0.01);
  assert.equal(pace.bytes, 30 * 1024);
});

test('always sends some messages', () => {
  const pace = new BatchPace();
  for (let send = 0; send < 9; send++) pace.sent(pace.bytes, 1000);
  assert.equal(pace.bytes, 1024);
});
