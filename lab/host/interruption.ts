import { LabError } from './errors.ts';

/** Aborted by Ctrl-C or SIGTERM, so that what was made is removed; a second one ends at once. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      process.stderr.write(`\n${signal}: removing what was made\n`);
      controller.abort(
        new LabError('LAB_INTERRUPTED', `interrupted by ${signal}`, {
          next: 'start the command again',
        }),
      );
    });
  }
  return controller.signal;
}

/** Rejects as soon as the signal is aborted; the work itself may still be winding down. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => {
    // No caller waits for the work any more: ignore its result.
    work.catch(() => undefined);
    reject(signal.reason as Error);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
