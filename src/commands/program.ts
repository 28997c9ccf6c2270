import { Command, CommanderError } from 'commander';
import { exitCodeOf, WRONG_USAGE_EXIT } from './command-error.ts';
import { ABOUT, formatItem, helpCommand, optionDescription } from './help.ts';
import { argumentsWithVerb } from './invocation.ts';
import { VERSION } from './run/program-version.ts';
import { printError, printNote, printPage } from './terminal/print.ts';

const OK = 0;

/** A program with commands. */
export interface Program {
  /** As it is called. */
  readonly name: string;
  readonly about: string;
  /** Those that the arguments need; all, unless they name one. */
  readonly commandsFor: (args: readonly string[]) => Promise<readonly Command[]>;
}

/** Runs a command of `fairlead`; resolves to the exit code. */
export async function runProgram(
  commandsFor: Program['commandsFor'],
  args: readonly string[],
  programPath?: string,
): Promise<number> {
  const fairlead = { name: 'fairlead', about: ABOUT, commandsFor };
  return await runCommands(fairlead, () => argumentsWithVerb({ programPath, args }));
}

/** Runs a command; resolves to the exit code. `args`: a function where they may be wrong. */
export async function runCommands(
  { name, about, commandsFor }: Program,
  args: readonly string[] | (() => readonly string[]),
): Promise<number> {
  const program = new Command(name)
    .description(about)
    .version(`fairlead ${VERSION}`, '-V, --version', 'print the version and exit')
    .exitOverride()
    .configureHelp({ optionDescription, formatItem })
    .addHelpCommand(helpCommand())
    .showHelpAfterError(`\`${name} --help\` lists the commands (USAGE)`)
    .configureOutput({
      writeOut: (text) => printPage(text.trimEnd()),
      writeErr: (text) => printNote(text.trimEnd()),
    });
  try {
    const given = typeof args === 'function' ? args() : args;
    for (const command of await commandsFor(given)) {
      program.addCommand(inherit(command, program, name));
    }
    await program.parseAsync(given, { from: 'user' });
    // A successful command may set an exit code, such as `diff`.
    return typeof process.exitCode === 'number' ? process.exitCode : OK;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? OK : WRONG_USAGE_EXIT;
    const { what, next } = describe(error);
    printError(what, next);
    return exitCodeOf(error);
  }
}

/** Settings and the hint of the program, for a command and those below it. */
function inherit(command: Command, parent: Command, path: string): Command {
  const name = `${path} ${command.name()}`;
  const below = command.commands.length === 0 ? 'options' : 'commands';
  command.copyInheritedSettings(parent);
  command.showHelpAfterError(`\`${name} --help\` lists its ${below} (USAGE)`);
  for (const child of command.commands) inherit(child, command, name);
  return command;
}

/** Errors with `next` are printed with it; others with their stack. */
function describe(error: unknown): { readonly what: string; readonly next: string } {
  if (!(error instanceof Error)) return { what: String(error), next: '' };
  if ('code' in error && 'next' in error) {
    return { what: error.message, next: `${String(error.next)} (${String(error.code)})` };
  }
  return { what: error.stack ?? error.message, next: '' };
}
