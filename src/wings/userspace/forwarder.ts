/**
 * The forwarder, a process of its own that `fairlead run` starts in mode userspace. Its copying threads
 * run the same file.
 */
import { isMainThread, workerData } from 'node:worker_threads';
import { runForwarder } from './plane/forwarder/forwarder-main.ts';
import { runThread } from './plane/forwarder/thread/thread.ts';
import type { ThreadStart } from './plane/forwarder/thread-messages.ts';
import type { ForwarderArguments } from './plane/forwarder-protocol.ts';

if (isMainThread) {
  await runForwarder({
    // Only the agent starts it, from the same source.
    arguments: JSON.parse(process.argv[2] as string) as ForwarderArguments,
    program: new URL(import.meta.url),
  });
} else {
  runThread(workerData as ThreadStart);
}
