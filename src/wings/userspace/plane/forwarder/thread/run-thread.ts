import type { FromThread, ThreadStart } from '../messages.ts';
import { CopyingThread } from './thread.ts';

/**
 * Copies connections until the main thread tells it to stop. Synchronous: it waits in epoll, and
 * the event loop of its thread never runs.
 */
export function runThread(start: ThreadStart): void {
  try {
    using thread = new CopyingThread(start);
    thread.run();
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    start.port.postMessage({ tell: 'broken', message } satisfies FromThread);
  }
}
