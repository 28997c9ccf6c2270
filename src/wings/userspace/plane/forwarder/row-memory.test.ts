import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { addressKey } from './address-key.ts';
import { ROW_MEMORY_BYTES, RowReader } from './row-memory.ts';

const WRITER = new URL('./testing/row-swapper.ts', import.meta.url);
const FRONTEND = addressKey({ address: '10.96.0.1', port: 80 });
const READS = 100_000;
const DEADLINE_MS = 20_000;

it('shows a reader all of a write or nothing, while another thread writes without a pause', async () => {
  const memory = new SharedArrayBuffer(ROW_MEMORY_BYTES);
  const stop = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const worker = new Worker(WRITER, { workerData: { memory, stop } });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const reader = new RowReader(memory);
  const found = { small: 0, large: 0, void: 0 };
  const deadlineMs = performance.now() + DEADLINE_MS;
  while (found.small + found.large < READS && performance.now() < deadlineMs) {
    const version = reader.begin();
    const isFound = reader.find(FRONTEND, 0);
    const slots = Array.from({ length: reader.size }, (_, index) => reader.slotAt(index));
    if (!reader.isCurrent(version)) found.void++;
    else if (isFound) {
      const first = slots.length === 3 ? 1_000 : 2_000;
      assert.ok([3, 40].includes(slots.length), `${slots.length} slots`);
      assert.deepEqual(
        slots,
        slots.map((_, index) => first + index),
      );
      found[slots.length === 3 ? 'small' : 'large']++;
    }
  }
  Atomics.store(new Int32Array(stop), 0, 1);
  await ended;
  assert.ok(found.small > 0 && found.large > 0, JSON.stringify(found));
});
