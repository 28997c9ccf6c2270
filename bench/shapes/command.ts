import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { updateDocument } from '../../lab/host/document.ts';
import { LabError } from '../../lab/host/errors.ts';
import { interruption } from '../../lab/host/interruption.ts';
import { terminalProgress } from '../../lab/host/progress.ts';
import { provideBench } from '../../lab/parts/bench.ts';
import { bundleFairlead, compileKernelPrograms } from '../bundle.ts';
import { type Contestant, parseProxies } from '../contestants.ts';
import { describeMachine, machineText } from '../machine.ts';
import { BOUND_HEAD, boundRow, boundsTable, isKept } from '../report/bounds.ts';
import { sectionMarkdown, sectionText } from '../report/section.ts';
import { Slab } from '../slab/slab.ts';
import { emptyShapeRun, keepShapeRun, readShapeRun, type ShapeRun } from './record.ts';
import { parseShapes } from './shapes.ts';
import { openShapeSite } from './site.ts';
import { shapeGoals, shapesSection } from './table.ts';
import { visitShape } from './visit.ts';

interface Options {
  readonly proxies: string;
  readonly shapes: string;
  readonly rounds: string;
  readonly json?: string;
  readonly from?: string;
  readonly docs?: string;
  readonly ci?: true;
}

const EXIT_GOAL_MISSED = 1;
const CI = { proxies: 'fairlead-nftables', shapes: '150-external-ips', rounds: '1' } as const;

export function shapesCommand(): Command {
  return new Command('shapes')
    .description('one large object in a small cluster, Fairlead compared with kube-proxy')
    .option('--proxies <names>', 'proxies to measure', 'fairlead-nftables,upstream-nftables')
    .option('--shapes <names>', 'large objects to measure', 'all')
    .option('--rounds <count>', 'measurements of each proxy', '1')
    .option('--json <file>', 'save all results, after each visit')
    .option('--from <file>', 'report the results in the file without measuring')
    .option('--docs <file>', 'write the tables into a document, between their marks')
    .option('--ci', `only ${CI.shapes} with ${CI.proxies}; fails if a goal is missed`)
    .action(runShapes);
}

async function runShapes(options: Options): Promise<void> {
  const run = options.from === undefined ? await measured(options) : await existing(options.from);
  const goals = shapeGoals(run);
  console.log(`\n${sectionText(shapesSection(run))}\n\nGoals\n\n${boundsTable(goals)}`);
  console.log(`\n${whereText(run)}`);
  if (options.docs !== undefined) await writeDocument(options.docs, run);
  if (options.ci && !goals.every(isKept)) {
    console.log('\nREGRESSION: one large object exceeds a limit.');
    process.exitCode = EXIT_GOAL_MISSED;
  }
}

async function existing(file: string): Promise<ShapeRun> {
  const run = await readShapeRun(file);
  if (run) return run;
  throw new LabError('LAB_NOT_FOUND', `cannot read ${file}: it does not exist`, {
    next: 'measure first, with --json',
  });
}

async function measured(given: Options): Promise<ShapeRun> {
  const options = given.ci ? { ...given, ...CI } : given;
  const progress = terminalProgress();
  const signal = interruption();
  const contestants = parseProxies(options.proxies);
  assertNoneNeedsResources(contestants);
  const hasSocketPlaces = contestants.some(({ isEbpf }) => isEbpf);
  if (hasSocketPlaces) await progress.step('eBPF programs', compileKernelPrograms);
  const program = await progress.step('bundle of Fairlead', () => bundleFairlead());
  const tool = await provideBench({ progress, signal });
  const startedAt = new Date().toISOString();
  const run = emptyShapeRun({ machine: await describeMachine(), startedAt });
  const fromMs = performance.now();
  await using slab = new Slab();
  await slab.start();
  for (const shape of parseShapes(options.shapes)) {
    await using site = await openShapeSite({ shape, hasSocketPlaces, progress, signal });
    for (let round = 1; round <= Number(options.rounds); round++) {
      for (const contestant of contestants) {
        const title = `${shape.name}, ${contestant.name}, round ${round}`;
        const visit = await progress.step(title, (detail) =>
          visitShape({ site, contestant, round, program, tool, slab, detail, signal }),
        );
        run.visits.push(visit);
        run.tookSeconds = (performance.now() - fromMs) / 1_000;
        if (options.json !== undefined) await keepShapeRun(options.json, run);
      }
    }
  }
  return run;
}

function assertNoneNeedsResources(contestants: readonly Contestant[]): void {
  const other = contestants.find(({ makeReady }) => makeReady !== undefined);
  if (other === undefined) return;
  throw new LabError('LAB_USAGE', `large objects are not measured with ${other.name}`, {
    next: 'choose proxies of Fairlead and kube-proxy',
  });
}

async function writeDocument(file: string, run: ShapeRun): Promise<void> {
  const folder = file.replace(/\.md$/, '');
  await mkdir(folder, { recursive: true });
  await keepShapeRun(join(folder, 'shapes.json'), run);
  await updateDocument(file, 'shapes', sectionMarkdown(shapesSection(run)));
  const goals = { head: BOUND_HEAD, rows: shapeGoals(run).map(boundRow) };
  const section = { name: 'shape-goals', title: '', ...goals };
  await updateDocument(file, section.name, sectionMarkdown(section));
  await updateDocument(file, 'shapes-machine', whereText(run));
}

function whereText({ machine, startedAt, tookSeconds }: ShapeRun): string {
  return `${machineText(machine)}. ${startedAt}, ${(tookSeconds / 60).toFixed(1)} minutes.`;
}
