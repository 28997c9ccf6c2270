import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SILENT_LOGGER } from '../../log/testing/silent-logger.ts';
import { systemClock } from '../../time/clock.ts';
import { giveBackMemory } from './give-back-memory.ts';

const OBJECTS = 1_000_000;
/** A third of what they take. */
const LEAST_BYTES = 16_000_000;
const log = SILENT_LOGGER;
const clock = { ...systemClock, sleep: async () => undefined };

it('returns memory that the start has left to the system', async () => {
  const keptBytes = await bytesAfterGarbage();
  await giveBackMemory({ clock, log }, new AbortController().signal);
  const { heapTotal } = process.memoryUsage();
  assert.ok(heapTotal < keptBytes - LEAST_BYTES, `${keptBytes} bytes, then ${heapTotal}`);
});

it('does nothing for a program that is about to end', async () => {
  const keptBytes = await bytesAfterGarbage();
  await giveBackMemory({ clock, log }, AbortSignal.abort());
  const { heapTotal } = process.memoryUsage();
  assert.ok(heapTotal > keptBytes - LEAST_BYTES, `${keptBytes} bytes, then ${heapTotal}`);
});

it('logs memory that cannot be returned, and continues', async (test) => {
  const fails = (): never => {
    throw new Error('too many open files');
  };
  test.mock.method(process.memoryUsage, 'rss', fails);
  const told: unknown[] = [];
  const heard = { debug: (...what: unknown[]) => told.push(...what) };
  await giveBackMemory({ clock, log: heard }, new AbortController().signal);
  assert.deepEqual(told, ['could not return memory of the start: Error: too many open files']);
});

/** How large the heap is when it held many objects that are no longer used. */
async function bytesAfterGarbage(): Promise<number> {
  const count = Array.from({ length: OBJECTS }, (_, index) => ({ index })).length;
  assert.equal(count, OBJECTS);
  return process.memoryUsage().heapTotal;
}
