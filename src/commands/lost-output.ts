import { printNote } from './terminal/print.ts';

const FAILED = 1;

/**
 * Makes a command fail whose output could not be written, such as to a full disk: `console` ignores
 * that. A reader that has gone, such as `head`, has seen what it wanted.
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
