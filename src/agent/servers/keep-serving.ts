import { sleep } from '../../time/sleep.ts';
import type { OpenServer } from './open-server.ts';
import { listenError, ServerError, type ServerProblemListener } from './server-error.ts';

export interface ServingOptions {
  /** `address:port`, for people. */
  readonly where: string;
  readonly open: () => Promise<OpenServer>;
  readonly onProblem: ServerProblemListener;
  /** Called whenever it listens. */
  readonly onOpen?: (server: OpenServer) => void;
  /** Delay after this many consecutive failures; undefined: reject. */
  readonly retryAfterMs: (failureCount: number) => number | undefined;
}

const RETRY_MS = 5_000;

/** kube-proxy's behaviour when a port is not available: retry, or exit. */
export function retryLikeKubeProxy(
  endsWhenServerFails: boolean,
): (failureCount: number) => number | undefined {
  return () => (endsWhenServerFails ? undefined : RETRY_MS);
}

/**
 * Keeps a server open until the signal is aborted, then resolves. Rejects with a ServerError when
 * no retry is wanted; otherwise each failure is passed to `onProblem`.
 */
export async function keepServing(options: ServingOptions, signal: AbortSignal): Promise<void> {
  let failureCount = 0;
  while (!signal.aborted) {
    const problem = await serveOnce(options, signal, () => {
      failureCount = 0;
    });
    if (problem === undefined) return;
    failureCount++;
    const waitMs = options.retryAfterMs(failureCount);
    if (waitMs === undefined) throw problem;
    options.onProblem(problem);
    await sleep(waitMs, signal);
  }
}

/** Resolves with the failure, or undefined when aborted. */
async function serveOnce(
  options: ServingOptions,
  signal: AbortSignal,
  onOpen: () => void,
): Promise<ServerError | undefined> {
  let server: OpenServer;
  try {
    server = await options.open();
  } catch (error) {
    return listenError(options.where, error);
  }
  if (signal.aborted) {
    server.close();
    return undefined;
  }
  onOpen();
  options.onOpen?.(server);
  const stop = (): void => server.close();
  signal.addEventListener('abort', stop, { once: true });
  await server.closed;
  signal.removeEventListener('abort', stop);
  return signal.aborted ? undefined : closedError(options.where);
}

function closedError(where: string): ServerError {
  return new ServerError('SERVER_CLOSED', `the server on ${where} closed unexpectedly`, {
    next: 'reopened automatically; if it persists, check the limit of open file descriptors',
  });
}
