import { readFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { EVERY_MS, sample, unreclaimableKib } from './meminfo.ts';

/** A separate thread, because the measuring one may be busy for long. */
const cells = new Int32Array(workerData as SharedArrayBuffer);
const clock = new Int32Array(new SharedArrayBuffer(4));

for (;;) {
  sample(cells, unreclaimableKib(readFileSync('/proc/meminfo', 'latin1')));
  Atomics.wait(clock, 0, 0, EVERY_MS);
}
