import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { updateDocument } from '../lab/host/document.ts';
import { LabError } from '../lab/host/errors.ts';
import { exitOnLabError } from '../lab/host/exit-on-lab-error.ts';
import { interruption } from '../lab/host/interruption.ts';
import { terminalProgress } from '../lab/host/progress.ts';
import { provideTestParts } from '../lab/parts/real.ts';
import type { RealProxy } from '../lab/real/proxies/contract.ts';
import { findRealProxy, REAL_PROXIES } from '../lab/real/proxies/registry.ts';
import { mergeRuns, readEarlier } from './earlier.ts';
import { assertImagesOf } from './images.ts';
import { judgeProxy } from './judge.ts';
import type { ProxyResults } from './result.ts';
import { shortName } from './result.ts';
import { SABOTAGES } from './sabotage/catalogue.ts';
import { runSabotages } from './sabotage/run-sabotages.ts';
import { sabotageMarkdown, sabotageTable } from './sabotage/table.ts';
import { focusOf } from './specs.ts';
import { swapCommand } from './swap/command.ts';
import { specMarkdown, specTable } from './table.ts';
import { ownFailures } from './verdict.ts';

interface Options {
  readonly proxy: readonly RealProxy[];
  readonly with: readonly string[];
  readonly focus?: string;
  readonly conformance: boolean;
  readonly sabotage: boolean;
  readonly procs: number;
  readonly nodes: number;
  readonly json?: string;
  readonly docs?: string;
  readonly logs: string;
}

const MAX_PROCESSES = 5;
/** The faults are texts of its program and of this mode. */
const SABOTAGED_PROXY = 'fairlead-nftables';

const program = new Command('e2e')
  .enablePositionalOptions()
  .description("Runs upstream's own end-to-end specs against a cluster with real nodes")
  .option('--proxy <names>', `one or several of ${names()}`, proxies, [])
  .option(
    '--with <files>',
    'results of earlier runs (--json) to include in the comparison',
    list,
    [],
  )
  .option('--focus <pattern>', 'specs whose name matches (default: those that concern a proxy)')
  .option(
    '--conformance',
    'conformance specs of the network group, all or those that match --focus',
    false,
  )
  .option('--sabotage', 'plant faults in Fairlead and check that the specs detect them', false)
  .option('--procs <count>', `specs to run concurrently, at most ${MAX_PROCESSES}`, processes, 5)
  .option('--nodes <count>', 'how many nodes', Number, 3)
  .option('--json <file>', 'write the results as JSON')
  .option('--docs <file>', 'write the table into a Markdown file, between its marks')
  .option(
    '--logs <folder>',
    'folder for the logs of failures',
    join(import.meta.dirname, '../dist/e2e'),
  )
  .action(main);

async function main(options: Options): Promise<void> {
  if (options.proxy.length + options.with.length === 0) {
    throw new LabError('LAB_USAGE', 'neither --proxy nor --with is given', {
      next: `give --proxy, one or several of ${names()}`,
    });
  }
  if (options.sabotage) return await judgeTheJudge(options);
  const earlier = await readEarlier(options.with);
  const now = options.proxy.length > 0 ? await runAll(options) : [];
  const runs = mergeRuns([...earlier, ...now]);
  console.log(`\n${specTable(runs)}`);
  if (options.json) await writeFile(options.json, `${JSON.stringify(runs.map(bare), null, 2)}\n`);
  if (options.docs) await updateDocument(options.docs, 'e2e', specMarkdown(runs));
  const failures = ownFailures(runs);
  if (failures.length === 0) return;
  const lines = failures.map(({ proxy, spec }) => `  ${proxy}: ${shortName(spec)}`);
  console.error(
    `\nfailed, and not known to fail with upstream too:\n${lines.join('\n')}\nlogs: ${options.logs}`,
  );
  process.exitCode = 1;
}

async function judgeTheJudge(options: Options): Promise<void> {
  const [proxy, ...others] = options.proxy;
  if (proxy?.name !== SABOTAGED_PROXY || others.length > 0) {
    throw new LabError('LAB_USAGE', `--sabotage works only with ${SABOTAGED_PROXY}`, {
      next: `give --proxy ${SABOTAGED_PROXY}`,
    });
  }
  const only = new RegExp(options.focus ?? '');
  const context = { progress: terminalProgress(), signal: interruption() };
  const { procs, nodes, logs: folder } = options;
  const results = await runSabotages({
    ...context,
    proxy,
    tests: await provideTestParts(context),
    procs,
    nodes,
    folder,
    sabotages: SABOTAGES.filter((sabotage) => only.test(sabotage.name)),
    onResult: ({ sabotage, reason }) =>
      process.stderr.write(`  ${sabotage}: ${reason.slice(0, 200)}\n`),
  });
  console.log(`\n${sabotageTable(results)}`);
  if (options.json) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
  if (options.docs) await updateDocument(options.docs, 'sabotage', sabotageMarkdown(results));
  process.exitCode = results.every((result) => result.caught) ? 0 : 1;
}

async function runAll(options: Options): Promise<ProxyResults[]> {
  const context = { progress: terminalProgress(), signal: interruption() };
  const tests = await provideTestParts(context);
  await assertImagesOf(tests);
  const focus = focusOf(options);
  const runs: ProxyResults[] = [];
  for (const proxy of options.proxy) {
    const folder = join(options.logs, proxy.name);
    await rm(folder, { recursive: true, force: true });
    const { procs, nodes } = options;
    runs.push(await judgeProxy({ ...context, proxy, tests, focus, procs, nodes, folder }));
  }
  return runs;
}

/** Without what a spec said on the way, which is kept beside for those that failed. */
function bare(run: ProxyResults): object {
  return { ...run, specs: run.specs.map(({ output: _, ...spec }) => spec) };
}

function names(): string {
  return REAL_PROXIES.map((proxy) => proxy.name).join(', ');
}

function list(text: string): string[] {
  return text.split(',');
}

function proxies(text: string): RealProxy[] {
  return list(text).map((name) => findRealProxy(name));
}

function processes(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_PROCESSES) return count;
  throw new InvalidArgumentError(`1 to ${MAX_PROCESSES}; more starve two cores and specs time out`);
}

program.addCommand(swapCommand);

try {
  await program.parseAsync();
} catch (error) {
  exitOnLabError(error, { program: 'e2e', exitCode: 1 });
}
