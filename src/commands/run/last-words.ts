import type { Logger } from 'pino';
import { exitCodeOf } from '../command-error.ts';
import type { LineWriter } from './line-writer.ts';

/** SIGTERM ends the process within a second, whoever reads its log. */
const FLUSH_MS = 300;

/**
 * Sends to the log what Node would write to standard error by itself, and would wait for its reader
 * with: errors that nobody caught, and warnings. At the end, what waits is written as far as it goes.
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
    // Errors of ours say what to do next; of others the stack is the best there is.
    log.fatal(`${error.message}; ${String(error.next)} (${String(error.code)})`);
  } else log.fatal({ stack: error.stack }, error.message);
}
