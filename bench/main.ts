import { existsSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { LabError } from '../lab/host/errors.ts';
import { exitOnLabError } from '../lab/host/exit-on-lab-error.ts';
import { interruption } from '../lab/host/interruption.ts';
import { type Progress, terminalProgress } from '../lab/host/progress.ts';
import { enterAskedKernel, kernelOption } from '../lab/kernel/enter.ts';
import { provideBench } from '../lab/parts/bench.ts';
import { bundleFairlead, compileKernelPrograms, FAULT_NAMES, type Fault } from './bundle.ts';
import { ciBounds, ciPlan } from './ci.ts';
import { type Contestant, PUBLISHED_PROXIES, parseProxies } from './contestants.ts';
import { controlPlanesCommand } from './control-planes/command.ts';
import { fleetCommand } from './fleet/command.ts';
import { forwardingCommand } from './forwarding/command.ts';
import { leftToDo } from './left-to-do.ts';
import { describeMachine } from './machine.ts';
import { MEASURES, type Measure } from './measures.ts';
import type { PlanOptions } from './plan.ts';
import type { Run } from './record.ts';
import { boundsTable, isKept } from './report/bounds.ts';
import { writeDocument, writeTables } from './report/document.ts';
import { goalsOf } from './report/goals.ts';
import { terminalReport } from './report/terminal.ts';
import { emptyRun, keepRun, readRun } from './run-file.ts';
import { runPlan } from './run-plan.ts';
import { shapesCommand } from './shapes/command.ts';
import { PUBLISHED_SIZES, parseSizes } from './sizes.ts';

interface Options {
  readonly proxies: string;
  readonly sizes: string;
  readonly measure?: readonly Measure[];
  readonly rounds: number;
  readonly json?: string;
  readonly resume?: true;
  readonly docs?: string;
  readonly tables?: string;
  readonly from?: string;
  readonly ci?: true;
  readonly planted?: Fault;
}

/** With these the published run has two hundred changes of Fairlead at every size, and ends within an hour. */
const DEFAULT_ROUNDS = 2;
const EXIT_BOUND_BROKEN = 1;

const program = new Command('bench')
  .description(
    'Compares Fairlead with kube-proxy and Cilium on a real API server: starts, changes, memory and packets',
  )
  .option(
    '--proxies <names>',
    'proxies to measure, in this order in every round',
    PUBLISHED_PROXIES,
  )
  .option('--sizes <sizes>', 'Services x endpoints of each', PUBLISHED_SIZES)
  .addOption(
    new Option('--measure <what...>', 'what to measure (default: everything)').choices(MEASURES),
  )
  .option('--rounds <count>', 'measurements of each proxy', wholeNumber, DEFAULT_ROUNDS)
  .option('--json <file>', 'save all results, after each visit')
  .option('--resume', 'continue the run saved in the file of --json')
  .option('--from <file>', 'report the results in the file without measuring')
  .option('--docs <file>', 'write the tables into a document, and plots and figures beside it')
  .option('--tables <file>', 'write only the tables of starts and changes into a document')
  .option('--ci', 'a small size in three minutes; fails if a ratio exceeds its bound')
  .addOption(
    new Option('--planted <fault>', 'plant a fault in Fairlead that must exceed a bound').choices(
      FAULT_NAMES,
    ),
  )
  .addOption(kernelOption())
  .action(bench)
  // Or an option of the same name would be taken for one of this command.
  .enablePositionalOptions()
  .addCommand(shapesCommand())
  .addCommand(forwardingCommand())
  .addCommand(fleetCommand())
  .addCommand(controlPlanesCommand());

async function bench(options: Options): Promise<void> {
  const run = options.from === undefined ? await measured(options) : await existing(options.from);
  console.log(terminalReport(run));
  if (options.docs !== undefined) await writeDocument(options.docs, run);
  if (options.tables !== undefined) await writeTables(options.tables, run);
  const bounds = options.ci ? ciBounds(run) : goalsOf(run);
  console.log(`\n${options.ci ? 'Bounds' : 'Goals'}\n\n${boundsTable(bounds)}`);
  if (options.ci && !bounds.every(isKept)) {
    console.log('\nREGRESSION: a figure exceeds its bound; bench/ci.ts explains each bound.');
    process.exitCode = EXIT_BOUND_BROKEN;
  }
}

async function existing(file: string): Promise<Run> {
  const run = await readRun(file);
  if (run) return run;
  throw new LabError('LAB_NOT_FOUND', `cannot read ${file}: it does not exist`, {
    next: 'measure first, with --json',
  });
}

async function measured(options: Options): Promise<Run> {
  const progress = terminalProgress();
  const signal = interruption();
  if (options.resume && options.json === undefined) {
    throw new LabError('LAB_USAGE', '--resume needs the file of the run to continue', {
      next: 'give the file with --json',
    });
  }
  const earlier = options.resume && options.json ? await readRun(options.json) : undefined;
  const { planted } = options;
  const startedAt = new Date().toISOString();
  const run = earlier ?? emptyRun({ machine: await describeMachine(), startedAt, planted });
  const plan = planOf(options);
  const built = await programs({ planted, progress, signal, contestants: plan.contestants });
  await runPlan({
    todo: leftToDo(plan, run),
    run,
    ...built,
    progress,
    signal,
    keep: async (now) => {
      if (options.json !== undefined) await keepRun(options.json, now);
    },
  });
  return run;
}

function planOf(options: Options): PlanOptions {
  if (options.ci) return ciPlan();
  return {
    contestants: parseProxies(options.proxies),
    sizes: parseSizes(options.sizes),
    measures: options.measure ?? MEASURES,
    rounds: options.rounds,
  };
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('not a whole number');
  return value;
}

async function programs(of: {
  readonly planted: Fault | undefined;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly contestants: readonly Contestant[];
}): Promise<{ tool: string; program: readonly string[] }> {
  const { planted, progress } = of;
  if (of.contestants.some(({ isEbpf }) => isEbpf)) {
    await progress.step('eBPF programs', compileKernelPrograms);
  }
  for (const { variant } of of.contestants) await variant([]).build?.(of);
  const title = planted ? `bundle of Fairlead with a planted ${planted}` : 'bundle of Fairlead';
  return {
    tool: await provideBench(of),
    program: await progress.step(title, () => bundleFairlead(planted)),
  };
}

try {
  await enterAskedKernel();
  await program.parseAsync();
} catch (error) {
  const { json } = program.opts<Options>();
  const isKept = json !== undefined && existsSync(json);
  const more = isKept ? `what was measured is in ${json}; --resume goes on with it` : undefined;
  exitOnLabError(error, { program: 'bench', exitCode: 1, more });
}
