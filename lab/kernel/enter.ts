import { Option } from 'commander';
import { interruption } from '../host/interruption.ts';
import { terminalProgress } from '../host/progress.ts';
import { askedKernel } from './asked.ts';
import { runInGuest } from './boot.ts';
import { provideKernel } from './build.ts';

/** A soak takes an hour, and the lab before it. */
const DEADLINE_MS = 2 * 60 * 60_000;
const OUTPUT_OPTIONS = ['--json', '--docs', '--save', '--tables'];

/** For the help of a program that calls `enterAskedKernel`. */
export function kernelOption(): Option {
  return new Option('--kernel <name>', 'run in another kernel: uml, a User-mode Linux with IPVS');
}

/** With `--kernel` on the command line, runs this program again in that kernel and ends with its exit code. */
export async function enterAskedKernel(): Promise<void> {
  const asked = askedKernel(process.argv.slice(2), OUTPUT_OPTIONS);
  if (asked === undefined) return;
  const signal = interruption();
  const kernel = await provideKernel({ progress: terminalProgress(), signal });
  const argv = [process.execPath, process.argv[1] ?? '', ...asked.args] as const;
  const { outputs } = asked;
  process.exit(await runInGuest({ kernel, argv, outputs, deadlineMs: DEADLINE_MS, signal }));
}
