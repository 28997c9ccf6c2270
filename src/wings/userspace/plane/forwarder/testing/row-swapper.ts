import { workerData } from 'node:worker_threads';
import { addressKey } from '../address-key.ts';
import { RowWriter } from '../row-writer.ts';

/**
 * A thread that writes while a test reads: a frontend leads to one row and then to another, whose
 * lists have other slots and another length.
 */
const { memory, stop } = workerData as {
  readonly memory: SharedArrayBuffer;
  readonly stop: SharedArrayBuffer;
};
const FRONTEND = addressKey({ address: '10.96.0.1', port: 80 });
const CLUSTER = { list: 'cluster', masquerade: false } as const;
const treatments = { pod: CLUSTER, host: CLUSTER, outside: CLUSTER };
const writer = new RowWriter(memory);
const isStopped = new Int32Array(stop);
const rows = ['default/a:p/TCP/IPv4', 'default/b:p/TCP/IPv4'].map(
  (key) => writer.newRow(key) as number,
);
for (let round = 0; Atomics.load(isStopped, 0) === 0; round++) {
  const [row = 0, other = 0] = round % 2 === 0 ? rows : rows.toReversed();
  const count = round % 2 === 0 ? 3 : 40;
  const first = round % 2 === 0 ? 1_000 : 2_000;
  writer.write(() => {
    writer.reserve(row, 'cluster', count);
    for (let slot = first; slot < first + count; slot++) writer.add(row, 'cluster', slot);
    writer.removeFrontend(other, FRONTEND);
    writer.addFrontend(row, FRONTEND, treatments);
  });
  writer.write(() => {
    const [otherFirst, otherCount] = round % 2 === 0 ? [2_000, 40] : [1_000, 3];
    for (let slot = otherFirst; slot < otherFirst + otherCount; slot++) {
      if (writer.has('cluster', slot)) writer.remove(other, 'cluster', slot);
    }
    writer.clearRow(other);
  });
}
