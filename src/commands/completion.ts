import { Argument, Command } from 'commander';
import { SHELLS, type Shell, writeShellFiles } from './completion/completion-files.ts';
import { describeVerbs } from './completion/verbs.ts';
import { ABOUT } from './help.ts';
import { VERSION } from './run/program-version.ts';
import { printData } from './terminal/print.ts';

interface CompletionOptions {
  readonly write?: string;
}

/** `fairlead completion`: prints completion scripts. */
export function completionCommand(commands: () => Promise<readonly Command[]>): Command {
  const command = new Command('completion');
  return command
    .description('print the completion script for a shell: source <(fairlead completion bash)')
    .addArgument(new Argument('[shell]', 'the shell').choices(Object.keys(SHELLS)))
    .option(
      '--write <folder>',
      'write the scripts of all shells and the manual pages to this folder, for a package',
    )
    .action(async (shell: Shell | undefined, { write }: CompletionOptions) => {
      const verbs = describeVerbs(await commands());
      if (write !== undefined) {
        await writeShellFiles(write, { verbs, about: ABOUT, version: VERSION });
      } else if (shell !== undefined) printData(SHELLS[shell].write(verbs).trimEnd());
      else command.error(`error: no shell given; use one of ${Object.keys(SHELLS).join(', ')}`);
    });
}
