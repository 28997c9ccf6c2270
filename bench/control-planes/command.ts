import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { updateDocument } from '../../lab/host/document.ts';
import { interruption } from '../../lab/host/interruption.ts';
import { type Progress, terminalProgress } from '../../lab/host/progress.ts';
import { provideBench } from '../../lab/parts/bench.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { bundleFairlead, compileKernelPrograms } from '../bundle.ts';
import { ciliumLoadBalancer } from '../cilium/load-balancer.ts';
import { parseProxies } from '../contestants.ts';
import { describeMachine, machineText } from '../machine.ts';
import { BOUND_HEAD, boundRow, boundsTable } from '../report/bounds.ts';
import { sectionMarkdown, sectionText } from '../report/section.ts';
import { openSite } from '../site/site.ts';
import { parseSizes, sizeText } from '../sizes.ts';
import { controlPlaneGoals } from './goals.ts';
import { type ControlPlaneRun, keepControlPlaneRun, readControlPlaneRun } from './record.ts';
import { controlPlanesSection } from './table.ts';
import { visitControlPlane } from './visit.ts';

interface Options {
  readonly sizes: string;
  readonly proxies: string;
  readonly rounds: string;
  readonly json?: string;
  readonly from?: string;
  readonly docs?: string;
}

/** Beside the part of Cilium that does the same work. */
const OURS = 'fairlead-nftables,fairlead-socket-ebpf';
const THEIRS = ciliumLoadBalancer();

export function controlPlanesCommand(): Command {
  return new Command('control-planes')
    .description('CPU and memory from the API server to the kernel, beside Cilium, without packets')
    .option('--sizes <sizes>', 'Services x endpoints of each', '1000x5,10000x5,50000x5')
    .option('--proxies <names>', 'control planes', `${OURS},${THEIRS.name}`)
    .option('--rounds <count>', 'measurements of each control plane', '2')
    .option('--json <file>', 'save all results, after each visit')
    .option('--from <file>', 'report the results in the file without measuring')
    .option('--docs <file>', 'write the table into a document, between its marks')
    .action(runControlPlanes);
}

async function runControlPlanes(options: Options): Promise<void> {
  const run =
    options.from === undefined ? await measured(options) : await readControlPlaneRun(options.from);
  const section = controlPlanesSection(run);
  const goals = controlPlaneGoals(run);
  console.log(`\n${sectionText(section)}\n\nGoals\n\n${boundsTable(goals)}\n\n${whereText(run)}`);
  if (options.docs === undefined) return;
  const folder = options.docs.replace(/\.md$/, '');
  await mkdir(folder, { recursive: true });
  await keepControlPlaneRun(join(folder, 'control-planes.json'), run);
  await updateDocument(options.docs, section.name, sectionMarkdown(section));
  const bounds = { name: '', title: '', head: BOUND_HEAD, rows: goals.map(boundRow) };
  await updateDocument(options.docs, `${section.name}-goals`, sectionMarkdown(bounds));
  await updateDocument(options.docs, `${section.name}-machine`, whereText(run));
}

async function measured(options: Options): Promise<ControlPlaneRun> {
  const progress = terminalProgress();
  const signal = interruption();
  const variants = await variantsOf(options.proxies, progress);
  for (const variant of variants) await variant.build?.({ progress, signal });
  const program = await provideBench({ progress, signal });
  const startedAt = new Date().toISOString();
  const machine = await describeMachine();
  const run: ControlPlaneRun = { machine, startedAt, tookSeconds: 0, visits: [] };
  const fromMs = performance.now();
  for (const size of parseSizes(options.sizes)) {
    await using site = await openSite({ size, program, hasSocketPlaces: true, progress, signal });
    for (let round = 1; round <= Number(options.rounds); round++) {
      for (const variant of variants) {
        const title = `${sizeText(size)}, ${variant.name}, round ${round}`;
        const visit = await progress.step(title, (detail) =>
          visitControlPlane({ site, variant, round, detail, signal }),
        );
        run.visits.push(visit);
        run.tookSeconds = (performance.now() - fromMs) / 1_000;
        if (options.json !== undefined) await keepControlPlaneRun(options.json, run);
      }
    }
  }
  return run;
}

async function variantsOf(names: string, progress: Progress): Promise<readonly ProxyVariant[]> {
  await progress.step('eBPF programs', compileKernelPrograms);
  const program = await progress.step('bundle of Fairlead', () => bundleFairlead());
  return names.split(',').flatMap((name) => {
    if (name === THEIRS.name) return [THEIRS];
    return parseProxies(name).map(({ variant }) => variant(program));
  });
}

function whereText({ machine, startedAt, tookSeconds }: ControlPlaneRun): string {
  return `${machineText(machine)}. ${startedAt}, ${(tookSeconds / 60).toFixed(1)} minutes.`;
}
