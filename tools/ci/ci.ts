import { join } from 'node:path';
import { partsOf, partsToRun } from './choose-parts.ts';
import { updateSection } from './document.ts';
import { DEADLINES } from './limits.ts';
import { HELP, type Options, parseOptions } from './options.ts';
import { budgetSeconds, type Part } from './part.ts';
import { programOf } from './program.ts';
import { PlanRecord, readEarlier } from './record.ts';
import { partsMarkdown, summaryTable, verdictLines } from './report.ts';
import { firstFailure, judged, type PartResult, type Summary } from './results.ts';
import { allowedSeconds, type Limits, runPlan } from './run-plan.ts';
import { coldParts, currentCommit, removeLabs } from './surroundings.ts';
import { UsageError } from './usage-error.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

export interface Site {
  readonly parts: readonly Part[];
  /** Where commands are run, and `dist/` is. */
  readonly root: string;
  /** The scripts of package.json. */
  readonly scripts: Readonly<Record<string, string>>;
  readonly measureSlowness: () => Promise<number>;
  /** As stolen.ts reads it. */
  readonly stolenSeconds: () => number;
  readonly limits?: Limits;
}

/** Runs a plan, or prints one. Resolves with the exit code. */
export async function ci(args: readonly string[], site: Site): Promise<number> {
  try {
    const options = parseOptions(args);
    const parts = partsOf(options.plan, site.parts);
    if (options.help) console.log(HELP);
    else if (options.list) list(parts);
    else return await runOrReport(options, { ...site, parts });
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    return EXIT_USAGE;
  }
}

async function runOrReport(options: Options, site: Site): Promise<number> {
  const { parts, root } = site;
  const signal = interruption(options);
  const commit = await currentCommit({ root, signal });
  const logFolder = join(root, 'dist', options.plan === 'run' ? 'ci' : options.plan);
  const file = join(logFolder, 'summary.json');
  const keepsEarlier = options.resume || options.report || options.only.length > 0;
  const earlier = keepsEarlier ? await readEarlier(file, commit) : [];
  if (options.report) {
    const head = { plan: options.plan, commit, cold: [], slowness: 1 };
    return await tell(new PlanRecord(file, { head, parts, earlier }), options, parts);
  }
  const wishes = { only: options.only, earlier: options.resume ? earlier : [] };
  const todo = partsToRun(parts, wishes);
  const cold = [...options.cold, ...(await coldParts(parts, { root, signal }))];
  const slowness = await site.measureSlowness();
  const caches = cold.length === 0 ? 'with caches' : `no cache for ${cold.join(', ')}`;
  console.log(`${caches}; this machine: budgets times ${slowness.toFixed(2)}`);
  const head = { plan: options.plan, commit, cold, slowness };
  const record = new PlanRecord(file, { head, parts, earlier });
  await keepSpent(record, options, parts);
  const isOver = firstFailure(record.summary()) !== undefined && !options.keepGoing;
  if (!isOver || keepsEarlier)
    await runAll({ ...site, parts: todo }, { options, record, signal, logFolder });
  if (process.env['CI'] === 'true') await removeLabs(root);
  return await tell(record, options, parts);
}

async function runAll(
  site: Site,
  of: { options: Options; record: PlanRecord; signal: AbortSignal; logFolder: string },
): Promise<void> {
  const { options, record, signal, logFolder } = of;
  const { cold, slowness } = record.summary();
  const binFolder = join(site.root, 'node_modules/.bin');
  const around = { scripts: site.scripts, binFolder, env: process.env };
  await runPlan({
    parts: site.parts,
    cold,
    slowness,
    stolenSeconds: site.stolenSeconds,
    keepGoing: options.keepGoing,
    folder: site.root,
    programOf: (command) => programOf(command, around),
    logFolder,
    show: options.plan === 'run' ? process.stdout : undefined,
    signal,
    ...(site.limits === undefined ? {} : { limits: site.limits }),
    onStart: ({ name, about }, allowed) => console.log(`\n===== ${name} (${allowed} s): ${about}`),
    onResult: async (result) => {
      await record.keep(result);
      console.log(`===== ${lineOf(result)}`);
    },
  });
}

/** Parts that the script did before there was a Node to run this. */
async function keepSpent(
  record: PlanRecord,
  options: Options,
  parts: readonly Part[],
): Promise<void> {
  const summary = record.summary();
  for (const part of parts) {
    const seconds = options.spent.get(part.name);
    if (seconds === undefined) continue;
    await record.keep(judged(part.name, { seconds }, allowedSeconds(part, summary)));
  }
}

function list(parts: readonly Part[]): void {
  const width = Math.max(...parts.map(({ name }) => name.length));
  for (const part of parts) {
    const seconds = `${budgetSeconds(part, false)}`.padStart(5);
    console.log(`${part.name.padEnd(width)} ${seconds} s  ${part.about}`);
  }
}

async function tell(record: PlanRecord, options: Options, parts: readonly Part[]): Promise<number> {
  const summary = narrowed(record.summary(), options.only);
  console.log(`\n${summaryTable(summary)}\n`);
  if (options.docs !== undefined) {
    await updateSection(options.docs, options.plan, partsMarkdown(parts, summary.results));
  }
  for (const line of verdictLines(summary)) console.log(line);
  return firstFailure(summary) === undefined ? 0 : EXIT_FAILED;
}

/** With --only, the report has only these parts; the record keeps the others. */
function narrowed(summary: Summary, only: readonly string[]): Summary {
  if (only.length === 0) return summary;
  const results = summary.results.filter(({ name }) => only.includes(name));
  return { ...summary, results, notRun: [] };
}

function lineOf({ name, seconds, budgetSeconds: allowed, failure }: PartResult): string {
  const took = `${name}: ${seconds.toFixed(1)} s of ${allowed} s`;
  return failure === undefined ? took : `${took}: FAILED: ${failure}`;
}

/** Ctrl-C, SIGTERM, and the deadline of the whole plan. */
function interruption({ plan }: Options): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      console.error(`\n${signal}: stopping the running part; it removes its labs first`);
      controller.abort(`interrupted by ${signal}`);
    });
  }
  const deadline = DEADLINES[plan];
  const reason = `the whole of .ci/${plan} is at its deadline of ${deadline} s`;
  setTimeout(() => controller.abort(reason), deadline * 1_000).unref();
  return controller.signal;
}
