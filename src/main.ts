import { commandsFor } from './command-tree.ts';
import { failOnLostOutput } from './commands/lost-output.ts';
import { runProgram } from './commands/program.ts';
import { nameProcess } from './linux/process-name.ts';

nameProcess('fairlead');
failOnLostOutput(process.stdout);
// Nowhere is left to tell of what standard error did not take.
process.stderr.on('error', () => undefined);
const [, programPath, ...args] = process.argv;
process.exitCode = await runProgram(commandsFor, args, programPath);
