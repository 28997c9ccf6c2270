import type { Logger } from '../../log/logger.ts';
import { exitCodeOf } from '../command-error.ts';
import type { LineWriter } from './line-writer.ts';

/** SIGTERM must end the process within a second, even if the reader of its log is stalled. */
const FLUSH_MS = 300;

/**
 * Logs uncaught errors and warnings. Node itself would write them to standard error and block on a
 * stalled reader. At exit, waiting lines are written until a deadline.
 */
export function keepLastWords(log: Pick<Logger, 'fatal' | 'warn'>, lines: LineWriter): void {
  process.on('exit', () => lines.flush(FLUSH_MS));
  process.on('uncaughtException', (error: unknown) => {
    tellFailure(log, error);
    process.exit(exitCodeOf(error));
  });
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => log.warn({ name }, message));
}

export function tellFailure(log: Pick<Logger, 'fatal'>, error: unknown): void {
  if (!(error instanceof Error)) log.fatal(String(error));
  else if ('code' in error && 'next' in error) {
    // Our own errors say what to do next; for others the stack says most.
    log.fatal(`${error.message}; ${String(error.next)} (${String(error.code)})`);
  } else log.fatal({ stack: error.stack }, error.message);
}
