import { join } from 'node:path';
import { Command } from 'commander';
import { interruption } from '../../../lab/host/interruption.ts';
import { kernelHas } from '../../../lab/host/kernel-parts.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { formatTable } from '../../../lab/host/table.ts';
import { NEWEST_API_VERSION } from '../../../lab/parts/api-version.ts';
import { FAIRLEAD_PROXIES, kernelPartsOf } from '../../../lab/proxies/fairlead-modes.ts';
import { assertPrometheus, startPrometheus } from '../../prometheus.ts';
import { compareFamilies } from './compare.ts';
import { PANELS, type Panel, type PanelAnswer } from './dashboard.ts';
import { type MetricFamily, readFamilies } from './families.ts';
import { LEFT_OUT } from './left-out.ts';
import { CONFIGURATION, readPanels } from './prometheus.ts';
import { NODE, Scene } from './scene.ts';

/** Each mode of Fairlead beside the kube-proxy that has its rules. */
const PAIRS: Readonly<Record<string, string>> = Object.fromEntries(
  FAIRLEAD_PROXIES.filter(
    ({ isLegacy, forwarder, mode }) =>
      !isLegacy && forwarder !== 'dead' && kernelPartsOf(mode).every(kernelHas),
  ).map((each) => [each.name, each.counterpart]),
);
const MEASURED_UPSTREAM = 'upstream-nftables';

export const command = new Command();

command
  .command('compare', { isDefault: true })
  .description('names, types, labels and bounds of histograms, in every mode')
  .option('--proxy <names...>', `some of ${Object.keys(PAIRS).join(', ')}`, Object.keys(PAIRS))
  .action(compareAll);

command
  .command('dashboard')
  .description("the panels of kubernetes-mixin's Proxy dashboard, by a real Prometheus")
  .option('--proxy <names...>', 'variants of Fairlead', ['fairlead-nftables'])
  .action(showDashboards);

async function compareAll({ proxy }: { readonly proxy: readonly string[] }): Promise<void> {
  await using scene = await Scene.start(terminalProgress(), interruption());
  const pages = new Map<string, ReadonlyMap<string, MetricFamily>>();
  const pageOf = async (name: string) => {
    const known = pages.get(name) ?? readFamilies(await scene.with(name, () => exercised(scene)));
    pages.set(name, known);
    return known;
  };
  const reasons = new Map<string, number>();
  for (const ours of proxy) {
    const theirs = PAIRS[ours] ?? MEASURED_UPSTREAM;
    const compared = compareFamilies(await pageOf(theirs), await pageOf(ours));
    const { same, leftOut, faults } = compared;
    console.log(
      `${ours} compared with ${theirs}: ${same.length} the same, ${faults.length} differ`,
    );
    for (const fault of faults) console.log(`  ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
    for (const { why } of leftOut) reasons.set(why, (reasons.get(why) ?? 0) + 1 / proxy.length);
  }
  const unused = LEFT_OUT.filter(({ why }) => !reasons.has(why));
  for (const { names } of unused)
    console.log(`${names}: listed as left out, but kube-proxy has no such metric`);
  if (unused.length > 0) process.exitCode = 1;
  const rows = [...reasons].map(([why, count]) => [String(Math.round(count)), why]);
  console.log(`\n${formatTable([['LEFT OUT', 'BECAUSE'], ...rows])}`);
}

async function exercised(scene: Scene): Promise<string> {
  await scene.probe();
  await scene.addService();
  // Stale flows are scanned after a change is in the kernel.
  return await scene.metricsWith(/^kubeproxy_conntrack_reconciler_sync_duration_seconds_count/m);
}

async function showDashboards({ proxy }: { readonly proxy: readonly string[] }): Promise<void> {
  await assertPrometheus();
  await using scene = await Scene.start(terminalProgress(), interruption());
  const names = [MEASURED_UPSTREAM, ...proxy];
  const answers = new Map<string, ReadonlyMap<Panel, PanelAnswer>>();
  for (const name of names) {
    answers.set(name, await scene.with(name, () => watched(scene, name)));
  }
  const rows = PANELS.map((panel) => [
    panel.title,
    ...names.map((name) => answerText(answers.get(name)?.get(panel))),
  ]);
  console.log(formatTable([['PANEL', ...names], ...rows]));
  for (const name of proxy) {
    for (const panel of PANELS) {
      const answer = answers.get(name)?.get(panel);
      const isRight =
        panel.isEmptyBecause === undefined ? typeof answer === 'number' : answer === 'empty';
      if (isRight) continue;
      console.log(`${name}: ${panel.title}: ${answerText(answer)}`);
      process.exitCode = 1;
    }
  }
}

/** Changes while Prometheus scrapes: a rate needs something that happens between two scrapes. */
async function watched(scene: Scene, name: string): Promise<ReadonlyMap<Panel, PanelAnswer>> {
  await using prometheus = await startPrometheus({
    namespacePath: scene.lab.namespacePath(NODE),
    folder: join(scene.lab.folder, 'prometheus', name),
    configuration: CONFIGURATION,
  });
  await scene.addService();
  await scene.addRejectedAddress();
  await scene.lab.replaceApiServer({ version: NEWEST_API_VERSION, flags: [] });
  await scene.addService();
  const isUpstream = name === MEASURED_UPSTREAM;
  return await readPanels(prometheus, ({ title, isEmptyBecause }) => {
    // Of kube-proxy's requests nothing but its Event at the start has a duration.
    return isEmptyBecause === undefined && !(isUpstream && title.includes('Request'));
  });
}

function answerText(answer: PanelAnswer | undefined): string {
  if (typeof answer !== 'number') return answer ?? 'empty';
  return answer >= 1_000_000 ? answer.toExponential(2) : String(Number(answer.toPrecision(3)));
}
