import { writeFile } from 'node:fs/promises';
import { styleText } from 'node:util';
import { Command, InvalidArgumentError, Option } from 'commander';
import { updateDocument } from '../lab/host/document.ts';
import { LabError } from '../lab/host/errors.ts';
import { exitOnLabError } from '../lab/host/exit-on-lab-error.ts';
import { interruption } from '../lab/host/interruption.ts';
import { assertKernelHas } from '../lab/host/kernel-parts.ts';
import { terminalProgress } from '../lab/host/progress.ts';
import { enterAskedKernel, kernelOption } from '../lab/kernel/enter.ts';
import {
  DEFAULT_NETWORK,
  findNetwork,
  NETWORK_VARIANTS,
} from '../lab/network/variants/registry.ts';
import {
  API_VERSIONS,
  type ApiVersion,
  hasApiOf,
  NEWEST_API_VERSION,
} from '../lab/parts/api-version.ts';
import type { ProxyVariant } from '../lab/proxies/contract.ts';
import { FAIRLEAD_NAMES } from '../lab/proxies/fairlead.ts';
import { canRunHere, findProxy, PROXY_VARIANTS } from '../lab/proxies/registry.ts';
import { allowancesMarkdown } from './allowances.ts';
import { acceptedBy, CORPUS } from './corpus.ts';
import { choiceLine, choiceList, choicesMarkdown, differingFor } from './differing/differing.ts';
import { labelOf } from './known-difference.ts';
import { whyNotAsked } from './not-asked.ts';
import type { Promptness } from './promptness/promptness.ts';
import { promptnessMarkdown, promptnessTable } from './report/promptness-table.ts';
import { provenMarkdown, readResults } from './report/proven-table.ts';
import { sabotageMarkdown, sabotageTable } from './report/sabotage-table.ts';
import { resultsMarkdown, resultsTable, takenText } from './report/table.ts';
import { type RunTime, timesMarkdown, timesTable } from './report/times.ts';
import { isDisturbed } from './runner/disturbed.ts';
import { runCorpus } from './runner/run-corpus.ts';
import type { ScenarioResult } from './runner/run-scenario.ts';
import { sabotagesFor } from './sabotage/catalogue.ts';
import { runSabotages } from './sabotage/run-sabotages.ts';
import type { SabotageResult } from './sabotage/stage.ts';
import type { Scenario } from './scenario.ts';
import { parseShare, type Share, shareOf } from './share.ts';

interface Options {
  readonly proxy: readonly ProxyVariant[];
  readonly network: readonly string[];
  readonly only?: RegExp;
  readonly share?: Share;
  readonly differing: boolean;
  readonly cover: number;
  readonly json?: string;
  readonly docs?: string;
  readonly list: boolean;
  readonly explain: boolean;
  readonly proven?: readonly string[];
  readonly seed: number;
  readonly sabotage: boolean;
  readonly atOnce: number;
  readonly api: ApiVersion;
}

const DEFAULT_PROXY = 'upstream-nftables';

const program = new Command('conformance')
  .description('Runs the conformance scenarios with real packets through any proxy')
  .addOption(
    new Option(
      '--proxy <names>',
      `one or several of ${proxyNames()}, or 'upstream' for all of them that the kernel can run`,
    )
      .argParser(proxies)
      .default([findProxy(DEFAULT_PROXY)], DEFAULT_PROXY),
  )
  .addOption(
    new Option('--network <names>', `one or several of ${networkNames()}`)
      .argParser(networks)
      .default([DEFAULT_NETWORK], DEFAULT_NETWORK),
  )
  .option('--only <pattern>', 'scenarios whose name matches this regular expression', pattern)
  .option('--share <K/N>', 'the Kth of N parts of them, to run parts side by side', parseShare)
  .option('--differing', 'for each proxy only the scenarios in which it could differ', false)
  .option(
    '--cover <count>',
    'with --differing: scenarios of each combination; 0: known differences',
    wholeNumber,
    1,
  )
  .option('--json <file>', 'write the results as JSON')
  .option('--docs <file>', 'write the table into a Markdown file, between its marks')
  .option('--sabotage', 'plant faults and check that the scenarios detect them', false)
  .option(
    '--explain',
    'ask `fairlead explain` too: prediction, proof by a packet and the packets must agree',
    false,
  )
  .option(
    '--proven <files...>',
    'run nothing: add up what results of --json say of explain, and write it with --docs',
  )
  .option('--seed <number>', 'with --explain: which half is proven first', wholeNumber, 1)
  .option('--list', 'print the scenarios and run none', false)
  .option('--at-once <count>', 'scenarios to run concurrently', Number, 12)
  .addOption(
    new Option('--api <version>', 'the Kubernetes version that the control plane emulates')
      .choices([...API_VERSIONS])
      .default(NEWEST_API_VERSION),
  )
  .addOption(kernelOption())
  .action(main);

async function main(options: Options): Promise<void> {
  if (options.proven) return await tellProven(options.proven, options.docs);
  const matching = CORPUS.filter((scenario) => options.only?.test(scenario.name) ?? true);
  const asked = options.share ? shareOf(matching, options.share) : matching;
  const scenarios = acceptedBy(options.api, asked);
  if (scenarios.length === 0 && !options.sabotage) {
    throw new LabError('LAB_USAGE', 'no scenario matches --only and --api', { next: 'see --list' });
  }
  if (options.list && options.differing) return await listDiffering(options, scenarios);
  if (options.list) {
    for (const scenario of scenarios) console.log(`${scenario.name}\n    ${scenario.title}`);
    return;
  }
  for (const { name } of asked.filter((scenario) => !scenarios.includes(scenario))) {
    process.stderr.write(`  left out: ${name}: API server ${options.api} does not accept it\n`);
  }
  for (const { name, kernelParts = [] } of options.proxy) assertKernelHas(kernelParts, name);
  if (options.sabotage) await judgeTheJudge(options);
  else await judgeProxies(options, scenarios);
}

async function tellProven(files: readonly string[], docs: string | undefined): Promise<void> {
  const table = provenMarkdown(await readResults(files));
  console.log(table);
  if (docs) await updateDocument(docs, 'explain-proven', table);
}

async function listDiffering(options: Options, corpus: readonly Scenario[]): Promise<void> {
  const choices = new Map(
    options.proxy.map(({ name }) => [
      name,
      differingFor(name, inReachOf(name, corpus), options.cover),
    ]),
  );
  for (const [name, choice] of choices) {
    console.log(`${choiceLine(name, choice)}\n${choiceList(choice)}`);
  }
  if (options.docs) await updateDocument(options.docs, 'differing', choicesMarkdown(choices));
}

/** All that were asked for, or those in which this proxy could differ. */
function scenariosFor(
  { name, version = NEWEST_API_VERSION }: ProxyVariant,
  options: Options,
  asked: readonly Scenario[],
): Scenario[] {
  const inReach = inReachOf(name, asked);
  const unreached = asked.length - inReach.length;
  if (unreached > 0) {
    process.stderr.write(`  left out: ${unreached} of outside/: ${name} needs a Node object\n`);
  }
  const all = inReach.filter(({ setup }) => hasApiOf(version, setup?.proxySince ?? version));
  for (const scenario of inReach.filter((each) => !all.includes(each))) {
    process.stderr.write(`  left out: ${scenario.name}: ${name} rejects its configuration\n`);
  }
  if (!options.differing) return all;
  const choice = differingFor(name, all, options.cover);
  console.log(choiceLine(name, choice));
  return choice.chosen.map(({ scenario }) => scenario);
}

/** Only Fairlead runs on a machine without a Node object. */
function inReachOf(proxy: string, corpus: readonly Scenario[]): readonly Scenario[] {
  if (FAIRLEAD_NAMES.includes(proxy)) return corpus;
  return corpus.filter(({ setup }) => setup?.outside === undefined);
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

async function judgeProxies(options: Options, all: readonly Scenario[]): Promise<void> {
  const results: ScenarioResult[] = [];
  const promptness: Promptness[] = [];
  const times: RunTime[] = [];
  const signal = interruption();
  for (const { variant, network } of runsOf(options)) {
    const startedAt = performance.now();
    const progress = terminalProgress();
    const { atOnce, api: apiVersion } = options;
    const own = askedOn(network, scenariosFor(variant, options, all));
    const notAsked = own.flatMap((scenario) => notAskedResult(scenario, { variant, network }));
    results.push(...notAsked);
    for (const { scenario, reason } of notAsked) {
      process.stderr.write(`  not asked: ${scenario}: ${reason}\n`);
    }
    const scenarios = own.filter((scenario) => whyNotAsked(scenario, variant) === undefined);
    if (scenarios.length === 0) continue;
    const isExplained = options.explain && FAIRLEAD_NAMES.includes(variant.name);
    const explains = isExplained ? { seed: options.seed } : undefined;
    const common = { atOnce, explains, apiVersion, progress, signal, onResult };
    const judged = await runCorpus({ variant, network, scenarios, ...common });
    results.push(...judged.scenarios);
    promptness.push(judged.promptness);
    const milliseconds = performance.now() - startedAt;
    const proxy = labelOf({ proxy: variant.name, network });
    times.push({ proxy, scenarios: scenarios.length, milliseconds });
  }
  if (times.length === 0) {
    const reason = results[0]?.reason;
    if (reason !== undefined) {
      throw new LabError('LAB_USAGE', `none of these scenarios is asked: ${reason}`, {
        next: 'choose a proxy that has it, or a kernel: --kernel uml',
      });
    }
    const setup = all[0]?.setup ?? {};
    const isOurs = options.proxy.some(({ name }) => FAIRLEAD_NAMES.includes(name));
    const theirs =
      setup.outside && !isOurs
        ? `--proxy ${FAIRLEAD_NAMES[0]}`
        : `--network ${setup.network ?? ''}`;
    throw new LabError('LAB_USAGE', 'none of these scenarios runs with this proxy and network', {
      next: `choose theirs: ${theirs}`,
    });
  }
  console.log(resultsTable(results));
  console.log(`${promptnessTable(promptness)}\n`);
  console.log(timesTable(times));
  await saveResults(options, results);
  if (options.docs && results.some((result) => !isOutside(result))) {
    await updateDocument(options.docs, 'times', timesMarkdown(times));
    await updateDocument(options.docs, 'promptness', promptnessMarkdown(promptness));
    await updateDocument(options.docs, 'allowances', allowancesMarkdown());
  }
  const late = promptness.filter(({ verdict }) => verdict === 'late');
  for (const { proxy, reason } of late) console.error(`LATE  ${proxy}: ${reason}`);
  const isWrong = results.some((result) => result.result === 'fail');
  process.exitCode = isWrong || late.length > 0 ? 1 : 0;
}

/** None, or one that says why. */
function notAskedResult(
  scenario: Scenario,
  { variant, network }: { variant: ProxyVariant; network: string },
): ScenarioResult[] {
  const reason = whyNotAsked(scenario, variant);
  if (reason === undefined) return [];
  const proxy = labelOf({ proxy: variant.name, network });
  return [{ scenario: scenario.name, proxy, result: 'not-asked', reason, milliseconds: 0 }];
}

/** Scenarios outside of a cluster have a table of their own: kube-proxy cannot be asked. */
async function saveResults(options: Options, results: readonly ScenarioResult[]): Promise<void> {
  if (options.json) await saveJson(options.json, results);
  if (!options.docs) return;
  const { outside = [], conformance = [] } = Object.groupBy(results, (result) =>
    isOutside(result) ? 'outside' : 'conformance',
  );
  for (const [section, own] of Object.entries({ outside, conformance })) {
    if (own.length > 0) await updateDocument(options.docs, section, conformanceMarkdown(own));
  }
}

function isOutside({ scenario }: ScenarioResult): boolean {
  return CORPUS.find(({ name }) => name === scenario)?.setup?.outside !== undefined;
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
    const { atOnce } = options;
    const corpus = CORPUS.filter((scenario) => whyNotAsked(scenario, variant) === undefined);
    const common = { variant, sabotages, corpus, atOnce, progress, signal };
    const plan = { ...common, onResult: onSabotage };
    results.push(...(await runSabotages(plan)));
  }
  console.log(sabotageTable(results));
  if (options.json) await saveJson(options.json, results);
  if (options.docs) await updateDocument(options.docs, 'sabotage', sabotageMarkdown(results));
  process.exitCode = results.every((result) => result.caught) ? 0 : 1;
}

async function saveJson(file: string, results: readonly object[]): Promise<void> {
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
}

const MARKS = {
  pass: styleText('green', '✓', { stream: process.stderr }),
  fail: styleText('red', '✗', { stream: process.stderr }),
  'known-difference': styleText('yellow', '≠', { stream: process.stderr }),
  'not-asked': styleText('gray', '–', { stream: process.stderr }),
};

function onResult(result: ScenarioResult): void {
  const seconds = (result.milliseconds / 1000).toFixed(1);
  const taken = isDisturbed(result) ? ` (${takenText(result.takenShare)})` : '';
  const why = result.result === 'fail' ? `\n      ${result.reason}${taken}` : '';
  process.stderr.write(`    ${MARKS[result.result]} ${result.scenario}  ${seconds} s${why}\n`);
}

function proxyNames(): string {
  return PROXY_VARIANTS.map((variant) => variant.name).join(', ');
}

function networkNames(): string {
  return NETWORK_VARIANTS.map((variant) => variant.name).join(', ');
}

function proxies(text: string): ProxyVariant[] {
  if (text === 'upstream') {
    return PROXY_VARIANTS.filter((v) => v.name.startsWith('upstream-') && canRunHere(v));
  }
  return text.split(',').map(findProxy);
}

function wholeNumber(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
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
  await enterAskedKernel();
  await program.parseAsync();
} catch (error) {
  exitOnLabError(error, { program: 'conformance', exitCode: 2 });
}
