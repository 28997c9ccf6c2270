import { parentPort, workerData } from 'node:worker_threads';
import { runHealthServer } from '../health-server.ts';
import { conditionsWith } from './example-conditions.ts';
import { budgetOfTest } from './serving-server.ts';

/**
 * A thread with a health server, whose event loop is blocked from a message on until it is woken.
 */
const gate = workerData as Int32Array;
parentPort?.on('message', () => {
  parentPort?.postMessage('stuck');
  Atomics.wait(gate, 0, 0);
});
await runHealthServer(
  {
    listen: { ip: '127.0.0.1', port: 0 },
    endsWhenServerFails: true,
    budget: budgetOfTest(),
    conditions: () => conditionsWith(),
    onProblem: (problem) => {
      throw problem;
    },
    onOpen: ({ port }) => parentPort?.postMessage(port),
  },
  new AbortController().signal,
);
