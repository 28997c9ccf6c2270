import { constants } from 'node:os';
import koffi from 'koffi';
import { SocketError } from './socket-error.ts';

const { ETIMEDOUT, ECANCELED } = constants.errno;

/** How long a wait may take, and what ends it earlier. */
export interface Wait {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Resolves when the descriptor can be read or written, or has failed. Rejects with a SocketError:
 * ETIMEDOUT after the timeout, ECANCELED when the signal aborts. One wait a descriptor at a time.
 */
export async function untilReady(fd: number, what: 'readable' | 'writable', wait: Wait) {
  const { signal, timeoutMs } = wait;
  if (signal?.aborted) throw new SocketError(`wait until a socket is ${what}`, ECANCELED);
  const { promise, resolve } = Promise.withResolvers<number>();
  const events = what === 'readable' ? { readable: true } : { writable: true };
  const onAbort = (): void => resolve(ECANCELED);
  const handle = koffi.node.poll(fd, events, () => resolve(0));
  const timer = setTimeout(() => resolve(ETIMEDOUT), timeoutMs);
  signal?.addEventListener('abort', onAbort);
  const failed = await promise;
  signal?.removeEventListener('abort', onAbort);
  clearTimeout(timer);
  handle.stop();
  handle.close();
  if (failed !== 0) throw new SocketError(`wait until a socket is ${what}`, failed);
}
