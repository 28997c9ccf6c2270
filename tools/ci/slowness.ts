import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** What the work below takes on the reference machine: 2 cores, both at work. */
const REFERENCE_MS = 500;
const ROUNDS = 5;
const MOST = 2;

/** The kind of work that most parts do: objects and texts, in JavaScript, on two cores. */
const WORK = `
const { parentPort } = require('node:worker_threads');
const rows = Array.from({ length: 2000 }, (_, i) => ({ name: 'service-' + i, ports: [i, i + 1] }));
parentPort.on('message', () => {
  const startedAt = performance.now();
  let length = 0;
  for (let i = 0; i < 300; i++) length += JSON.stringify(JSON.parse(JSON.stringify(rows))).length;
  parentPort.postMessage({ ms: performance.now() - startedAt, length });
});
`;

/**
 * How many times as long as the reference machine this one takes, between 1 and 2: budgets are
 * seconds, and a machine half as fast is no reason to fail. Beyond that it is.
 */
export async function measureSlowness(): Promise<number> {
  const count = Math.min(2, availableParallelism());
  const workers = Array.from({ length: count }, () => new Worker(WORK, { eval: true }));
  try {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      times.push(Math.max(...(await Promise.all(workers.map(timeOf)))));
    }
    return slownessOf(times);
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

export function slownessOf(timesMs: readonly number[]): number {
  const median = timesMs.toSorted((a, b) => a - b)[timesMs.length >> 1] ?? REFERENCE_MS;
  return Math.min(MOST, Math.max(1, Math.round((median / REFERENCE_MS) * 100) / 100));
}

async function timeOf(worker: Worker): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  worker.once('message', ({ ms }: { ms: number }) => resolve(ms));
  worker.once('error', reject);
  worker.postMessage('go');
  return await promise;
}
