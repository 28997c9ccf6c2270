import { Command, InvalidArgumentError, Option } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { LabError } from '../../../lab/host/errors.ts';
import { abortable, interruption } from '../../../lab/host/interruption.ts';
import { type Progress, terminalProgress } from '../../../lab/host/progress.ts';
import { startLab } from '../../../lab/lab.ts';
import { LOAD } from './changes.ts';
import type { Fault } from './fault.ts';
import { LOAD_FAULTS } from './load-faults.ts';
import { answerInside } from './plane/inside.ts';
import { PLANE_PROXIES } from './plane/plane-proxies.ts';
import { planeMarkdown, planeTable } from './plane/plane-report.ts';
import { planeFaults, runPlaneFaults } from './plane/run-plane-faults.ts';
import { faultsMarkdown, faultsTable } from './report.ts';
import { type FaultResult, runFault } from './run-fault.ts';
import { Scene } from './scene.ts';
import { SERVER_FAULTS } from './server-faults.ts';
import { WAY_FAULTS } from './way-faults.ts';

interface Options {
  readonly only?: RegExp;
  readonly docs?: string;
  readonly proxy: string;
  readonly times: number;
  readonly earlier?: string;
}

interface Watch {
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

const [FIRST_PROXY] = PLANE_PROXIES;

/** The one that leaves thousands of Services behind comes last. */
const FAULTS: readonly Fault[] = [...SERVER_FAULTS, ...WAY_FAULTS, ...LOAD_FAULTS];

export const command = new Command()
  .option('--only <pattern>', 'only the faults whose name matches', (text) => new RegExp(text, 'i'))
  .addOption(
    new Option(
      '--proxy <name>',
      'proxy whose data plane is tested; only the first also runs the cluster faults',
    )
      .choices(PLANE_PROXIES)
      .default(FIRST_PROXY),
  )
  .option('--times <count>', 'how many times the proxy is killed', positiveCount, 100)
  .option('--earlier <commit>', 'an earlier build, upgraded from and downgraded to')
  .option('--docs <file>', 'write the tables into a document, between their marks')
  .action(runAll);

command
  .command('inside <config> <run-folder>', { hidden: true })
  .description('internal: the process in the network namespace of a node')
  .action(answerInside);

function positiveCount(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

async function runAll({ only, docs, proxy, times, earlier }: Options): Promise<void> {
  const isWanted = ({ name }: { name: string }): boolean => only === undefined || only.test(name);
  const isFirst = proxy === FIRST_PROXY;
  const choices = { kills: times, ...(earlier === undefined ? {} : { earlierCommit: earlier }) };
  const known = { cluster: isFirst ? FAULTS : [], plane: planeFaults(proxy, choices) };
  const faults = known.cluster.filter(isWanted);
  const ofPlane = known.plane.filter(isWanted);
  if (faults.length + ofPlane.length === 0) {
    const names = [...known.cluster, ...known.plane].map(({ name }) => name);
    const next = `choose from: ${names.join(', ')}`;
    throw new LabError('LAB_USAGE', `no fault matches ${only}`, { next });
  }
  const watch = { progress: terminalProgress(), signal: interruption() };
  const failures: (string | undefined)[] = [];
  if (faults.length > 0) {
    const results = await runFaults(faults, watch);
    console.log(faultsTable(results));
    if (docs !== undefined) await updateDocument(docs, 'faults', faultsMarkdown(results));
    failures.push(...results.map(({ failure }) => failure));
  }
  if (ofPlane.length > 0) {
    const results = await runPlaneFaults(ofPlane, { proxy, ...watch });
    console.log(planeTable(results));
    const section = isFirst ? 'plane-faults' : `${proxy}-faults`;
    if (docs !== undefined) await updateDocument(docs, section, planeMarkdown(results));
    failures.push(...results.map(({ failure }) => failure));
  }
  if (failures.some((failure) => failure !== undefined)) process.exitCode = 1;
}

async function runFaults(
  faults: readonly Fault[],
  { progress, signal }: Watch,
): Promise<FaultResult[]> {
  await using lab = await startLab({ nodeCount: 1, load: LOAD, progress, signal });
  await using scene = new Scene(lab);
  await scene.prepare();
  const results: FaultResult[] = [];
  for (const fault of faults) {
    const work = (): Promise<FaultResult> => abortable(runFault(scene, fault), signal);
    results.push(await progress.step(fault.name, work));
  }
  return results;
}
