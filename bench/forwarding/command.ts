import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { updateDocument } from '../../lab/host/document.ts';
import { LabError } from '../../lab/host/errors.ts';
import { interruption } from '../../lab/host/interruption.ts';
import { terminalProgress } from '../../lab/host/progress.ts';
import { provideBench } from '../../lab/parts/bench.ts';
import { bundleFairlead } from '../bundle.ts';
import { describeMachine, machineText } from '../machine.ts';
import { BOUND_HEAD, boundRow, boundsTable } from '../report/bounds.ts';
import { type Section, sectionMarkdown, sectionText } from '../report/section.ts';
import { parseSizes } from '../sizes.ts';
import { haproxyVersion } from './haproxy.ts';
import {
  emptyForwardingRun,
  type ForwardingRun,
  keepForwardingRun,
  readForwardingRun,
} from './record.ts';
import { openForwardingSite } from './site.ts';
import { forwardingGoals, forwardingSection, memorySection } from './tables.ts';
import { visitGroup } from './visit.ts';
import { parseGroups } from './ways.ts';

interface Options {
  readonly groups: string;
  readonly sizes: string;
  readonly rounds: string;
  readonly slices: string;
  readonly held: string;
  readonly json?: string;
  readonly from?: string;
  readonly docs?: string;
  readonly nightly?: true;
}

const NIGHTLY = { sizes: '100x5', rounds: '1', slices: '4', held: '2000' } as const;

export function forwardingCommand(): Command {
  return new Command('forwarding')
    .description('what a process between client and endpoint costs: the userspace mode and HAProxy')
    .option('--groups <names>', 'ways that run side by side', 'all')
    .option('--sizes <sizes>', 'Services x endpoints of each', '100x5,10000x5')
    .option('--rounds <count>', 'starts of each group', '2')
    .option('--slices <count>', 'of each way and kind of load, in one round', '8')
    .option('--held <count>', 'connections to hold, as far as descriptors allow; 0: none', '20000')
    .option('--json <file>', 'save all results, after each visit')
    .option('--from <file>', 'report the results in the file without measuring')
    .option('--docs <file>', 'write the tables into a document, between their marks')
    .option('--nightly', 'one round at a small size; fails if a way does not work')
    .action(runForwarding);
}

async function runForwarding(options: Options): Promise<void> {
  const run = options.from === undefined ? await measured(options) : await existing(options.from);
  for (const section of [forwardingSection(run), memorySection(run)]) {
    console.log(`\n${sectionText(section)}`);
  }
  console.log(`\nGoals\n\n${boundsTable(forwardingGoals(run))}\n\n${whereText(run)}`);
  if (options.docs !== undefined) await writeDocument(options.docs, run);
  const ended = run.visits.filter((visit) => visit.ended !== undefined);
  for (const visit of ended) console.log(`${visit.way}: ${visit.ended}`);
  if (options.nightly && ended.length > 0) process.exitCode = 1;
}

async function existing(file: string): Promise<ForwardingRun> {
  const run = await readForwardingRun(file);
  if (run) return run;
  throw new LabError('LAB_NOT_FOUND', `cannot read ${file}: it does not exist`, {
    next: 'measure first, with --json',
  });
}

async function measured(given: Options): Promise<ForwardingRun> {
  const options = given.nightly ? { ...given, ...NIGHTLY } : given;
  const progress = terminalProgress();
  const signal = interruption();
  const program = await progress.step('bundle of Fairlead', () => bundleFairlead());
  const tool = await provideBench({ progress, signal });
  const run = emptyForwardingRun({
    machine: await describeMachine(),
    haproxy: await haproxyVersion(),
    startedAt: new Date().toISOString(),
  });
  const fromMs = performance.now();
  const limits = { slices: Number(options.slices), held: Number(options.held) };
  for (const size of parseSizes(options.sizes)) {
    await using site = await openForwardingSite({ size, program: tool, progress, signal });
    for (let round = 1; round <= Number(options.rounds); round++) {
      for (const group of parseGroups(options.groups)) {
        const title = `${size.services} Services, ${group.name}, round ${round}`;
        const visits = await progress.step(title, (detail) =>
          visitGroup({ site, group, program, round, ...limits, detail, signal }),
        );
        run.visits.push(...visits);
        run.tookSeconds = (performance.now() - fromMs) / 1_000;
        if (options.json !== undefined) await keepForwardingRun(options.json, run);
      }
    }
  }
  return run;
}

async function writeDocument(file: string, run: ForwardingRun): Promise<void> {
  const folder = file.replace(/\.md$/, '');
  await mkdir(folder, { recursive: true });
  await keepForwardingRun(join(folder, 'forwarding.json'), run);
  const goals: Section = {
    name: 'forwarding-goals',
    title: '',
    head: BOUND_HEAD,
    rows: forwardingGoals(run).map(boundRow),
  };
  for (const section of [forwardingSection(run), memorySection(run), goals]) {
    await updateDocument(file, section.name, sectionMarkdown(section));
  }
  await updateDocument(file, 'forwarding-machine', whereText(run));
}

function whereText({ machine, haproxy, startedAt, tookSeconds }: ForwardingRun): string {
  const minutes = (tookSeconds / 60).toFixed(1);
  return `${machineText(machine)}; HAProxy ${haproxy}. ${startedAt}, ${minutes} minutes.`;
}
