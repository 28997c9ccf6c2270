import { printNote } from './terminal/print.ts';

const FAILED = 1;

/**
 * Makes a command fail when its output cannot be written, such as to a full disk: `console` ignores
 * that. A closed pipe, such as `head`, is not an error.
 */
export function failOnLostOutput(output: NodeJS.EventEmitter): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    printNote(`cannot write the output: ${error.code ?? error.message}`);
    process.on('exit', () => {
      process.exitCode = FAILED;
    });
  });
}
