import { writeFile } from 'node:fs/promises';
import { styleText } from 'node:util';
import { Command, InvalidArgumentError } from 'commander';
import { updateDocument } from '../lab/host/document.ts';
import { LabError } from '../lab/host/errors.ts';
import { interruption } from '../lab/host/interruption.ts';
import { terminalProgress } from '../lab/host/progress.ts';
import {
  DEFAULT_NETWORK,
  findNetwork,
  NETWORK_VARIANTS,
} from '../lab/network/variants/registry.ts';
import type { ProxyVariant } from '../lab/proxies/contract.ts';
import { findProxy, PROXY_VARIANTS } from '../lab/proxies/registry.ts';
import { CORPUS } from './corpus.ts';
import { labelOf } from './known-difference.ts';
import { sabotageMarkdown, sabotageTable } from './report/sabotage-table.ts';
import { resultsMarkdown, resultsTable } from './report/table.ts';
import { type RunTime, timesMarkdown, timesTable } from './report/times.ts';
import { runCorpus } from './runner/run-corpus.ts';
import type { ScenarioResult } from './runner/run-scenario.ts';
import { sabotagesFor } from './sabotage/catalogue.ts';
import { runSabotages, type SabotageResult } from './sabotage/run-sabotages.ts';
import type { Scenario } from './scenario.ts';

interface Options {
  readonly proxy: readonly ProxyVariant[];
  readonly network: readonly string[];
  readonly only?: RegExp;
  readonly json?: string;
  readonly docs?: string;
  readonly list: boolean;
  readonly sabotage: boolean;
  readonly atOnce: number;
}

const program = new Command('conformance')
  .description('Puts the questions of the corpus to real packets, through any proxy')
  .option(
    '--proxy <names>',
    `one or several of ${proxyNames()}, or 'upstream' for all of them`,
    proxies,
    [findProxy('upstream-nftables')],
  )
  .option(
    '--network <names>',
    `one or several of ${NETWORK_VARIANTS.map((variant) => variant.name).join(', ')}`,
    networks,
    [DEFAULT_NETWORK],
  )
  .option('--only <pattern>', 'scenarios whose name matches this regular expression', pattern)
  .option('--json <file>', 'write the results as JSON')
  .option('--docs <file>', 'write the table into a Markdown file, between its marks')
  .option('--sabotage', 'plant faults and see whether the scenarios notice', false)
  .option('--list', 'print the scenarios and run none', false)
  .option('--at-once <count>', 'scenarios to run side by side', Number, 12)
  .action(main);

async function main(options: Options): Promise<void> {
  const scenarios = CORPUS.filter((scenario) => options.only?.test(scenario.name) ?? true);
  if (scenarios.length === 0 && !options.sabotage) {
    throw new LabError('LAB_USAGE', 'no scenario has such a name', { next: 'see --list' });
  }
  if (options.list) {
    for (const scenario of scenarios) console.log(`${scenario.name}\n    ${scenario.title}`);
    return;
  }
  if (options.sabotage) await judgeTheJudge(options);
  else await judgeProxies(options, scenarios);
}

function runsOf(options: Options): { variant: ProxyVariant; network: string }[] {
  return options.proxy.flatMap((variant) =>
    options.network.map((network) => ({ variant, network })),
  );
}

/** Those that are about one network are asked on that one only. */
function askedOn(network: string, scenarios: readonly Scenario[]): Scenario[] {
  return scenarios.filter(({ setup }) => (setup?.network ?? network) === network);
}

async function judgeProxies(options: Options, scenarios: readonly Scenario[]): Promise<void> {
  const results: ScenarioResult[] = [];
  const times: RunTime[] = [];
  const signal = interruption();
  for (const { variant, network } of runsOf(options)) {
    const startedAt = performance.now();
    const progress = terminalProgress();
    const { atOnce } = options;
    const asked = askedOn(network, scenarios);
    const run = { variant, network, scenarios: asked, atOnce, progress, signal, onResult };
    results.push(...(await runCorpus(run)));
    const milliseconds = performance.now() - startedAt;
    const proxy = labelOf({ proxy: variant.name, network });
    times.push({ proxy, scenarios: asked.length, milliseconds });
  }
  if (results.length === 0) {
    throw new LabError('LAB_USAGE', 'these scenarios are about another network', {
      next: `give it: --network ${scenarios[0]?.setup?.network ?? ''}`,
    });
  }
  console.log(resultsTable(results));
  console.log(timesTable(times));
  await save(options, { section: 'conformance', results, markdown: conformanceMarkdown(results) });
  if (options.docs) await updateDocument(options.docs, 'times', timesMarkdown(times));
  process.exitCode = results.some((result) => result.result === 'fail') ? 1 : 0;
}

function conformanceMarkdown(results: readonly ScenarioResult[]): string {
  return resultsMarkdown(results, new Map(CORPUS.map(({ name, title }) => [name, title])));
}

async function judgeTheJudge(options: Options): Promise<void> {
  const results: SabotageResult[] = [];
  const signal = interruption();
  for (const variant of options.proxy) {
    const sabotages = sabotagesFor(variant.name).filter((s) => options.only?.test(s.name) ?? true);
    const onSabotage = (result: SabotageResult): void => {
      const mark = result.caught ? MARKS.pass : MARKS.fail;
      process.stderr.write(`    ${mark} ${result.sabotage}: ${result.reason}\n`);
    };
    const progress = terminalProgress();
    const plan = { variant, sabotages, corpus: CORPUS, progress, signal, onResult: onSabotage };
    results.push(...(await runSabotages(plan)));
  }
  console.log(sabotageTable(results));
  await save(options, { section: 'sabotage', results, markdown: sabotageMarkdown(results) });
  process.exitCode = results.every((result) => result.caught) ? 0 : 1;
}

async function save(
  options: Options,
  report: { section: string; results: readonly object[]; markdown: string },
): Promise<void> {
  if (options.json) await writeFile(options.json, `${JSON.stringify(report.results, null, 2)}\n`);
  if (options.docs) await updateDocument(options.docs, report.section, report.markdown);
}

const MARKS = {
  pass: styleText('green', '✓', { stream: process.stderr }),
  fail: styleText('red', '✗', { stream: process.stderr }),
  'known-difference': styleText('yellow', '≠', { stream: process.stderr }),
};

function onResult(result: ScenarioResult): void {
  const seconds = (result.milliseconds / 1000).toFixed(1);
  const why = result.result === 'fail' ? `\n      ${result.reason}` : '';
  process.stderr.write(`    ${MARKS[result.result]} ${result.scenario}  ${seconds} s${why}\n`);
}

function proxyNames(): string {
  return PROXY_VARIANTS.map((variant) => variant.name).join(', ');
}

function proxies(text: string): ProxyVariant[] {
  if (text === 'upstream') return PROXY_VARIANTS.filter((v) => v.name.startsWith('upstream-'));
  return text.split(',').map(findProxy);
}

function networks(text: string): string[] {
  return text.split(',').map((name) => findNetwork(name).name);
}

function pattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new InvalidArgumentError(String(error));
  }
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof LabError)) throw error;
  console.error(`conformance: ${error.message}\n  next: ${error.next}  [${error.code}]`);
  // What was interrupted is still winding down in a lab that is gone: nobody waits for that.
  process.exit(error.code === 'LAB_INTERRUPTED' ? 130 : 2);
}
