import { keepLastWords } from '../../../src/commands/run/last-words.ts';
import { openLog } from '../../../src/commands/run/stream-logger.ts';

/** A process that logs as `fairlead run` does, warns as Node does, and then crashes. */
const { log, lines } = openLog({ format: 'text', verbosity: 0 });
keepLastWords(log, lines);
process.emitWarning('planted warning');
for (let count = 0; count < Number(process.argv[2]); count++) log.info('x'.repeat(1_000));
setImmediate(() => {
  throw new TypeError('planted error');
});
