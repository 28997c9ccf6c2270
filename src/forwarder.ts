/**
 * The forwarder, a process of its own that `fairlead run` starts in mode userspace. Its copying threads
 * run the same file.
 */
import { isMainThread, workerData } from 'node:worker_threads';
import { runForwarder } from './dataplanes/userspace/forwarder/main.ts';
import type { ThreadStart } from './dataplanes/userspace/forwarder/messages.ts';
import { runThread } from './dataplanes/userspace/forwarder/thread/run-thread.ts';
import { readArguments } from './dataplanes/userspace/start-arguments.ts';

if (isMainThread) {
  await runForwarder({
    arguments: readArguments(process.argv[2]),
    program: new URL(import.meta.url),
  });
} else {
  runThread(workerData as ThreadStart);
}
