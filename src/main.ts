import { cleanupCommand } from './commands/cleanup.ts';
import { configCommand } from './commands/config.ts';
import { diffCommand } from './commands/diff.ts';
import { failOnLostOutput } from './commands/lost-output.ts';
import { runProgram } from './commands/program.ts';
import { renderCommand } from './commands/render.ts';
import { runCommand } from './commands/run.ts';
import { servicesCommand } from './commands/services.ts';
import { sizeCommand } from './commands/size.ts';
import { statusCommand } from './commands/status.ts';
import { nameProcess } from './linux/process-name.ts';

const commands = [
  runCommand(),
  statusCommand(),
  servicesCommand(),
  diffCommand(),
  renderCommand(),
  sizeCommand(),
  configCommand(),
  cleanupCommand(),
];

nameProcess('fairlead');
failOnLostOutput(process.stdout);
// Nowhere is left to tell of what standard error did not take.
process.stderr.on('error', () => undefined);
const [, programPath, ...args] = process.argv;
process.exitCode = await runProgram(commands, args, programPath);
