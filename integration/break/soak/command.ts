import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { soakPlot } from './plot.ts';
import { markdownReport, summaryMarkdown, terminalReport } from './report.ts';
import type { SoakResult } from './result.ts';
import { runSoak } from './run-soak.ts';
import { SOAK_MODES } from './soak-modes.ts';
import { faultsOf, verdictsOf } from './verdicts.ts';

interface Options {
  readonly mode: readonly string[];
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
    new Option('--mode <mode...>', 'modes, a node each in one cluster')
      .choices(SOAK_MODES)
      .default([FIRST_MODE]),
  )
  .option('--minutes <number>', 'duration; the first half is warm-up', number, 60)
  .option(
    '--rate <number>',
    'changes a second; connections and the rest keep their ratio to it',
    number,
    100,
  )
  .option('--plant-leak', 'plant a leak that must be found')
  .addOption(new Option('-o, --output <form>').choices(['table', 'json']).default('table'))
  .option('--docs <folder>', 'write samples, plot and table into soak.md and soak/ of this folder')
  .action(main);

command
  .command('judge <file>')
  .description('judge the samples of an earlier run, written by --docs or -o json')
  .action(async (file: string, _own: object, judging: Command) => {
    await tell([await readResult(file)], judging.optsWithGlobals<Options>());
  });

function number(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

async function main(options: Options): Promise<void> {
  const results = await runSoak({
    modes: options.mode,
    minutes: options.minutes,
    changesPerSecond: options.rate,
    isLeakPlanted: options.plantLeak ?? false,
    progress: terminalProgress(),
    signal: interruption(),
  });
  await tell(results, options);
}

async function tell(
  results: readonly SoakResult[],
  options: Pick<Options, 'output' | 'docs'>,
): Promise<void> {
  console.log(
    options.output === 'json'
      ? JSON.stringify(results.map(judged), null, 1)
      : terminalReport(results),
  );
  if (options.docs !== undefined) await writeDocs(options.docs, results);
  if (results.some((result) => faultsOf(result).length > 0)) process.exitCode = EXIT_NOT_PASSED;
}

function judged(result: SoakResult): object {
  return { faults: faultsOf(result), verdicts: verdictsOf(result), ...result };
}

/** The page, of these runs and of earlier ones whose samples are there. */
async function writeDocs(folder: string, results: readonly SoakResult[]): Promise<void> {
  const [page, files] = [join(folder, 'soak.md'), join(folder, 'soak')];
  await mkdir(files, { recursive: true });
  for (const result of results) {
    await writeFile(join(files, `${result.mode}.json`), `${JSON.stringify(result, rounded)}\n`);
    await writeFile(join(files, `${result.mode}.svg`), soakPlot(result));
    await updateDocument(page, `soak-${result.mode}`, markdownReport(result));
  }
  const known = (await readdir(files)).filter((name) => name.endsWith('.json')).toSorted();
  const all = await Promise.all(known.map((name) => readResult(join(files, name))));
  await updateDocument(page, 'soak-summary', summaryMarkdown(all));
}

async function readResult(file: string): Promise<SoakResult> {
  return JSON.parse(await readFile(file, 'utf8')) as SoakResult;
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(2)) : value;
}
