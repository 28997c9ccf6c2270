import { CommandError } from '../../commands/command-error.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** As a shell counts a program that SIGINT ended. */
const INTERRUPTED_EXIT = 130;

/**
 * Runs work that must tidy up: Ctrl-C aborts its signal instead of ending this process, however often
 * it is pressed. Rejects with INTERRUPTED after the work has ended.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  for (const name of SIGNALS) process.on(name, interrupt);
  try {
    const result = await work(stop.signal);
    stop.signal.throwIfAborted();
    return result;
  } catch (cause) {
    if (!stop.signal.aborted) throw cause;
    // Whatever failed, failed because of it.
    throw new CommandError('interrupted', {
      code: 'INTERRUPTED',
      next: 'run it again',
      cause,
      exitCode: INTERRUPTED_EXIT,
    });
  } finally {
    for (const name of SIGNALS) process.off(name, interrupt);
  }
}
