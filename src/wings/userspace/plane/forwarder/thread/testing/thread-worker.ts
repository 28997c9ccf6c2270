/** A copying thread of a test, in the network namespace of the thread that started it. */
import { workerData } from 'node:worker_threads';
import { runThread } from '../thread.ts';

runThread(workerData);
