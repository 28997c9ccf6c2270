import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { soakPlot } from './plot.ts';
import { markdownReport, terminalReport } from './report.ts';
import type { SoakResult } from './result.ts';
import { runSoak } from './run-soak.ts';
import { SOAK_MODES } from './soak-modes.ts';
import { faultsOf, verdictsOf } from './verdicts.ts';

interface Options {
  readonly mode: string;
  readonly minutes: number;
  readonly rate: number;
  readonly plantLeak?: true;
  readonly output: 'table' | 'json';
  readonly docs?: string;
}

const EXIT_NOT_PASSED = 1;
const [FIRST_MODE] = SOAK_MODES;

export const command = new Command()
  .addOption(
    new Option('--mode <mode>', 'mode of the node').choices(SOAK_MODES).default(FIRST_MODE),
  )
  .option('--minutes <number>', 'duration; the first half is warm-up', number, 60)
  .option('--rate <number>', 'changes a second', number, 100)
  .option('--plant-leak', 'plant a leak that must be found')
  .addOption(new Option('-o, --output <form>').choices(['table', 'json']).default('table'))
  .option('--docs <folder>', 'write samples, plot and table into soak.md and soak/ of this folder')
  .action(main);

command
  .command('judge <file>')
  .description('judge the samples of an earlier run, written by --docs or -o json')
  .action(async (file: string, _own: object, judging: Command) => {
    const result = JSON.parse(await readFile(file, 'utf8')) as SoakResult;
    await tell(result, judging.optsWithGlobals<Options>());
  });

function number(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

async function main(options: Options): Promise<void> {
  const result = await runSoak({
    mode: options.mode,
    minutes: options.minutes,
    changesPerSecond: options.rate,
    isLeakPlanted: options.plantLeak ?? false,
    progress: terminalProgress(),
    signal: interruption(),
  });
  await tell(result, options);
}

async function tell(result: SoakResult, options: Pick<Options, 'output' | 'docs'>): Promise<void> {
  const faults = faultsOf(result);
  console.log(
    options.output === 'json'
      ? JSON.stringify({ faults, verdicts: verdictsOf(result), ...result }, null, 1)
      : terminalReport(result),
  );
  if (options.docs !== undefined) await writeDocs(options.docs, result);
  if (faults.length > 0) process.exitCode = EXIT_NOT_PASSED;
}

async function writeDocs(folder: string, result: SoakResult): Promise<void> {
  const files = join(folder, 'soak');
  await mkdir(files, { recursive: true });
  await writeFile(join(files, `${result.mode}.json`), `${JSON.stringify(result)}\n`);
  await writeFile(join(files, `${result.mode}.svg`), soakPlot(result));
  await updateDocument(join(folder, 'soak.md'), `soak-${result.mode}`, markdownReport(result));
}
