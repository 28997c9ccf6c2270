import { Command, InvalidArgumentError, Option } from 'commander';
import { bundleFairlead, compileKernelPrograms } from '../../../bench/bundle.ts';
import { updateDocument } from '../../../lab/host/document.ts';
import { LabError } from '../../../lab/host/errors.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { type Progress, terminalProgress } from '../../../lab/host/progress.ts';
import { startLab } from '../../../lab/lab.ts';
import { provideBench } from '../../../lab/parts/bench.ts';
import {
  FAIRLEAD_MODES,
  FAIRLEAD_PROXIES,
  type FairleadMode,
  fairleadProxy,
} from '../../../lab/proxies/fairlead-modes.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { boundsOf } from './bounds/list.ts';
import { boundsReport } from './bounds/report.ts';
import { runBounds } from './bounds/run-bounds.ts';
import { faultsOf } from './bounds/verdict.ts';
import { beHostile } from './hostile/process.ts';
import { markdownReport, terminalReport } from './report.ts';
import { runNeighbour } from './run-neighbour.ts';
import { type NeighbourScene, prepareScene, type SceneOptions } from './scene.ts';
import { verdictsOf } from './verdicts.ts';

interface Options {
  readonly proxy: string;
  readonly mode?: FairleadMode;
  readonly bounds?: true;
  readonly seed: number;
  readonly minutes: number;
  readonly gentle?: true;
  readonly only?: string;
  readonly output: 'table' | 'json';
  readonly docs?: string;
}

const EXIT_HURT = 1;
/** So that descriptors are a bound that a pod can reach. */
const FEW_FILES = ['prlimit', '--nofile=4000:4000'] as const;
const BACKGROUND = { services: 100, endpointsPerService: 5 };

export const command = new Command()
  .option('--proxy <name>', 'the proxy on the node', 'fairlead-nftables')
  .addOption(
    new Option('--mode <mode>', 'short for --proxy fairlead-MODE')
      .choices(FAIRLEAD_MODES)
      .conflicts('proxy'),
  )
  .option('--bounds', 'instead of attacks: fill each bound that tenants share, and ask a neighbour')
  .option('--seed <number>', 'the same seed gives the same attacks', number, 1)
  .option('--minutes <number>', 'duration', number, 5)
  .option('--gentle', 'smaller objects, for a proxy that would exhaust the memory of the machine')
  .option('--only <names>', 'only these attacks or bounds, separated by commas')
  .addOption(new Option('-o, --output <form>').choices(['table', 'json']).default('table'))
  .option('--docs <file>', 'write the tables into a document, between their marks')
  .action(main);

command
  .command('hostile <order>', { hidden: true })
  .description('internal: the process of the hostile user')
  .action(beHostile);

function number(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

async function main(options: Options): Promise<void> {
  if (options.bounds) return await askAtBounds(options);
  const result = await onNode(options, {}, ({ scene, tool, progress, signal }) =>
    progress.step(`a hostile neighbour of ${proxyOf(options)}`, (detail) =>
      runNeighbour({
        scene,
        tool,
        seed: options.seed,
        seconds: options.minutes * 60,
        isGentle: options.gentle ?? false,
        ...(options.only === undefined ? {} : { only: options.only }),
        detail,
        signal,
      }),
    ),
  );
  const verdicts = verdictsOf(result);
  console.log(
    options.output === 'json'
      ? JSON.stringify({ verdicts, ...result }, null, 1)
      : terminalReport(result),
  );
  if (options.docs !== undefined) {
    await updateDocument(options.docs, 'neighbour', markdownReport(result));
  }
  if (!verdicts.every(({ isKept }) => isKept)) process.exitCode = EXIT_HURT;
}

async function askAtBounds(options: Options): Promise<void> {
  const { mode } = FAIRLEAD_PROXIES.find(({ name }) => name === proxyOf(options)) ?? {};
  if (mode === undefined) {
    const next = `choose a mode: ${FAIRLEAD_MODES.join(', ')}`;
    throw new LabError('LAB_USAGE', `the bounds of ${proxyOf(options)} are not known`, { next });
  }
  const bounds = boundsOf(mode, options.only);
  if (bounds.length === 0) {
    const next = `choose from: ${boundsOf(mode)
      .map(({ name }) => name)
      .join(', ')}`;
    throw new LabError('LAB_USAGE', `no bound of ${mode} matches ${options.only}`, { next });
  }
  const result = await onNode(options, { under: FEW_FILES }, (stage) =>
    stage.progress.step(`one tenant at the bounds of ${mode}`, (detail) =>
      runBounds({ ...stage, mode, bounds, detail }),
    ),
  );
  const verdicts = result.bounds.map((each) => ({ bound: each.name, faults: faultsOf(each) }));
  console.log(
    options.output === 'json'
      ? JSON.stringify({ verdicts, ...result }, null, 1)
      : boundsReport(result),
  );
  if (verdicts.some(({ faults }) => faults.length > 0)) process.exitCode = EXIT_HURT;
}

interface Stage {
  readonly scene: NeighbourScene;
  readonly tool: string;
  readonly program: readonly string[];
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

function proxyOf({ mode, proxy }: Pick<Options, 'mode' | 'proxy'>): string {
  return mode === undefined ? proxy : fairleadProxy(mode).name;
}

/** A lab with one node and the proxy on it, for as long as the work takes. */
async function onNode<T>(
  options: Options,
  start: Pick<SceneOptions, 'under'>,
  work: (stage: Stage) => Promise<T>,
): Promise<T> {
  const progress = terminalProgress();
  const signal = interruption();
  const proxyName = proxyOf(options);
  const { servesSockets = false } = findProxy(proxyName);
  if (servesSockets) {
    await progress.step('eBPF programs', compileKernelPrograms);
  }
  const program = await progress.step('bundle of Fairlead', () => bundleFairlead());
  const tool = await provideBench({ progress, signal });
  await using lab = await startLab({ nodeCount: 1, load: BACKGROUND, progress, signal });
  if (servesSockets) await lab.makeSocketPlaces();
  const scene = await progress.step('a node that serves', () =>
    prepareScene({ lab, proxyName, program, ...start, signal }),
  );
  try {
    return await work({ scene, tool, program, progress, signal });
  } finally {
    await scene.proxy.daemon.kill();
  }
}
