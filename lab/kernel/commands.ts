import { Command, InvalidArgumentError } from 'commander';
import { interruption } from '../host/interruption.ts';
import { terminalProgress } from '../host/progress.ts';
import { runInGuest } from './boot.ts';
import { provideKernel } from './build.ts';

const DEFAULT_MINUTES = 60;
const SHELL_DEADLINE_MS = 24 * 60 * 60_000;

/** `lab kernel`: a Linux kernel as a program, with what the kernel of this machine may lack. */
export function kernelCommand(): Command {
  const command = new Command('kernel')
    .description(
      'A User-mode Linux with IPVS, SCTP, netem and ipset: the same root, another kernel',
    )
    .enablePositionalOptions();
  command
    .command('build')
    .description('build it, if the cache has none, and print its path')
    .action(async () => {
      const context = { progress: terminalProgress(), signal: interruption() };
      console.log(await provideKernel(context));
    });
  command
    .command('run')
    .description('run a command in it; changes of files are discarded when it ends')
    .option('--minutes <count>', 'end it after so long', minutes, DEFAULT_MINUTES)
    .option('--out <files...>', 'files and folders to copy out of it when the command has ended')
    .passThroughOptions()
    .argument('<command...>')
    .action(async (argv: [string, ...string[]], options: { minutes: number; out?: string[] }) => {
      const signal = interruption();
      const kernel = await provideKernel({ progress: terminalProgress(), signal });
      const deadlineMs = options.minutes * 60_000;
      const outputs = options.out ?? [];
      process.exitCode = await runInGuest({ kernel, argv, outputs, deadlineMs, signal });
    });
  command
    .command('shell')
    .description('a shell in it, for a lab and everything else: exit ends the kernel')
    .action(async () => {
      const kernel = await provideKernel({ progress: terminalProgress() });
      const argv = ['/bin/bash', '-i'] as const;
      const common = { terminal: true, deadlineMs: SHELL_DEADLINE_MS } as const;
      process.exitCode = await runInGuest({ kernel, argv, ...common });
    });
  return command;
}

function minutes(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('not a number of minutes');
  return value;
}
