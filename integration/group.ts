import type { Command } from 'commander';
import { exitOnLabError } from '../lab/host/exit-on-lab-error.ts';
import { enterAskedKernel, kernelOption } from '../lab/kernel/enter.ts';

export interface GroupCommand {
  readonly name: string;
  /** One line for the list of the group, and for the command's own help. */
  readonly about: string;
  /** Loads its module only when it is chosen: a list must not load every data plane. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

export interface Group {
  /** The script in package.json. */
  readonly name: string;
  readonly about: string;
  readonly commands: readonly GroupCommand[];
}

const EXIT_USAGE = 2;

/** Runs the command that the first argument names; without one, lists them all. */
export async function runGroup(group: Group, args: readonly string[]): Promise<void> {
  const [name, ...rest] = args;
  const chosen = group.commands.find((each) => each.name === name);
  if (chosen === undefined) {
    const isHelp = name === '--help' || name === '-h';
    if (name !== undefined && !isHelp) console.error(`${group.name}: no command '${name}'\n`);
    console.log(listText(group));
    // A part of CI that forgot to name a command must not pass.
    if (!isHelp) process.exitCode = EXIT_USAGE;
    return;
  }
  const { command } = await chosen.load();
  command.name(`npm run ${group.name} -- ${chosen.name}`).description(chosen.about);
  command.addOption(kernelOption());
  try {
    await enterAskedKernel();
    await command.parseAsync(rest, { from: 'user' });
  } catch (error) {
    exitOnLabError(error, { program: chosen.name, exitCode: EXIT_USAGE });
  }
}

function listText({ name: group, about, commands }: Group): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, about: line }) => `  ${name.padEnd(width)}  ${line}`);
  const usage = `Usage: npm run ${group} -- COMMAND [options]`;
  return [about, '', usage, '', ...lines, '', 'Each command has --help.'].join('\n');
}
