/**
 * The forwarder, a process of its own that `fairlead run` starts in mode userspace. Its copying threads
 * run the same file.
 */
import { isMainThread, workerData } from 'node:worker_threads';
import { runForwarder } from './plane/forwarder/main.ts';
import type { ThreadStart } from './plane/forwarder/messages.ts';
import { runThread } from './plane/forwarder/thread/run-thread.ts';
import { readArguments } from './plane/start-arguments.ts';

if (isMainThread) {
  await runForwarder({
    arguments: readArguments(process.argv[2]),
    program: new URL(import.meta.url),
  });
} else {
  runThread(workerData as ThreadStart);
}
