import { configCommand } from './commands/config.ts';
import { runProgram } from './commands/program.ts';
import { servicesCommand } from './commands/services.ts';

process.exitCode = await runProgram([configCommand(), servicesCommand()], process.argv.slice(2));
