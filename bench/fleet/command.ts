import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { updateDocument } from '../../lab/host/document.ts';
import { LabError } from '../../lab/host/errors.ts';
import { interruption } from '../../lab/host/interruption.ts';
import { terminalProgress } from '../../lab/host/progress.ts';
import type { LoadSize } from '../../lab/load/objects.ts';
import { MAX_NODES } from '../../lab/network/plan.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { bundleFairlead } from '../bundle.ts';
import { type Contestant, parseProxies } from '../contestants.ts';
import { describeMachine, machineText } from '../machine.ts';
import { sectionMarkdown, sectionText } from '../report/section.ts';
import { parseSizes, sizeText } from '../sizes.ts';
import { type FleetRun, keepFleetRun, readFleetRun } from './record.ts';
import { openFleetSite } from './site.ts';
import { fleetSections } from './tables.ts';
import { visitFleet } from './visit.ts';

interface Options {
  readonly proxies: string;
  readonly size: LoadSize;
  readonly machines: readonly number[];
  readonly json?: string;
  readonly from?: string;
  readonly docs?: string;
}

const NO_JITTER = join(import.meta.dirname, 'no-jitter.ts');
const DEFAULT_SIZE = '1000x5';
/** What fits into 24 GB and two CPUs, where each machine is a process of about 90 MB. */
const DEFAULT_MACHINES = '1,10,20,40';

export function fleetCommand(): Command {
  return new Command('fleet')
    .description('what many machines cost the API server, and how they return after its restart')
    .option('--proxies <names>', 'proxies to measure', 'fairlead-nftables,upstream-nftables')
    .option('--size <size>', 'Services x endpoints of each', oneSize, oneSize(DEFAULT_SIZE))
    .option('--machines <counts>', 'how many, ascending', counts, counts(DEFAULT_MACHINES))
    .option('--json <file>', 'save all results, after each proxy')
    .option('--from <file>', 'report the results in the file without measuring')
    .option('--docs <file>', 'write the tables into a document, between their marks')
    .action(runFleet);
}

async function runFleet(options: Options): Promise<void> {
  const run =
    options.from === undefined ? await measured(options) : await readFleetRun(options.from);
  const sections = fleetSections(run);
  for (const section of sections) console.log(`\n${sectionText(section)}`);
  console.log(`\n${whereText(run)}`);
  if (options.docs === undefined) return;
  for (const section of sections) {
    await updateDocument(options.docs, section.name, sectionMarkdown(section));
  }
  await updateDocument(options.docs, 'fleet-machine', whereText(run));
}

async function measured({ proxies, size, machines, json }: Options): Promise<FleetRun> {
  const progress = terminalProgress();
  const signal = interruption();
  const contestants = parseProxies(proxies);
  assertPlain(contestants);
  const program = await progress.step('bundle of Fairlead', () => bundleFairlead());
  const startedAt = new Date().toISOString();
  const run: FleetRun = {
    machine: await describeMachine(),
    startedAt,
    size,
    tookSeconds: 0,
    visits: [],
  };
  const fromMs = performance.now();
  for (const contestant of contestants) {
    const most = Math.max(...machines);
    const variant = contestant.variant(program);
    await variant.build?.({ progress, signal });
    // A new cluster for each: memory of the API server is never given back.
    await using site = await openFleetSite({ size, machines: most, progress, signal });
    const visit = await progress.step(contestant.name, (detail) =>
      visitFleet({
        site,
        proxy: contestant.name,
        variant,
        ...(contestant.isOurs ? { inStep: withoutJitter(variant) } : {}),
        machines,
        detail,
        signal,
      }),
    );
    run.visits.push(visit);
    run.tookSeconds = (performance.now() - fromMs) / 1_000;
    if (json !== undefined) await keepFleetRun(json, run);
  }
  return run;
}

/** Nodes of a fleet have neither control groups nor IPVS of their own. */
function assertPlain(contestants: readonly Contestant[]): void {
  const other = contestants.find(({ isEbpf, needsIpvs }) => isEbpf || needsIpvs);
  if (other === undefined) return;
  throw new LabError('LAB_USAGE', `a fleet of ${other.name} cannot be measured`, {
    next: 'choose proxies of the modes nftables and iptables',
  });
}

function withoutJitter(variant: ProxyVariant): ProxyVariant {
  return {
    ...variant,
    prepare: async (place) => {
      const { argv, env } = await variant.prepare(place);
      return { argv, env: { ...env, NODE_OPTIONS: `--import=${NO_JITTER}` } };
    },
  };
}

function whereText({ machine, startedAt, size, tookSeconds }: FleetRun): string {
  const took = `${(tookSeconds / 60).toFixed(1)} minutes`;
  return `${sizeText(size)}. ${machineText(machine)}. ${startedAt}, ${took}.`;
}

function oneSize(text: string): LoadSize {
  const [size, ...more] = parseSizes(text);
  if (size === undefined || more.length > 0) throw new InvalidArgumentError('not one size');
  return size;
}

function counts(text: string): readonly number[] {
  const numbers = text.split(',').map(Number);
  const isAscending = numbers.every((each, index) => each > (numbers[index - 1] ?? 0));
  const areCounts = numbers.every((each) => Number.isInteger(each) && each <= MAX_NODES);
  if (!isAscending || !areCounts) {
    throw new InvalidArgumentError(`not ascending numbers of at most ${MAX_NODES} machines`);
  }
  return numbers;
}
