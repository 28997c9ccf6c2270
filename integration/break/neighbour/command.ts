import { Command, InvalidArgumentError, Option } from 'commander';
import { bundleFairlead, compileKernelPrograms } from '../../../bench/bundle.ts';
import { updateDocument } from '../../../lab/host/document.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { startLab } from '../../../lab/lab.ts';
import { provideBench } from '../../../lab/parts/bench.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { beHostile } from './hostile/process.ts';
import { markdownReport, terminalReport } from './report.ts';
import type { NeighbourResult } from './result.ts';
import { runNeighbour } from './run-neighbour.ts';
import { prepareScene } from './scene.ts';
import { verdictsOf } from './verdicts.ts';

interface Options {
  readonly proxy: string;
  readonly seed: number;
  readonly minutes: number;
  readonly gentle?: true;
  readonly only?: string;
  readonly output: 'table' | 'json';
  readonly docs?: string;
}

const EXIT_HURT = 1;
const BACKGROUND = { services: 100, endpointsPerService: 5 };

export const command = new Command()
  .option('--proxy <name>', 'the proxy on the node', 'fairlead-nftables')
  .option('--seed <number>', 'the same seed gives the same attacks', number, 1)
  .option('--minutes <number>', 'duration', number, 5)
  .option('--gentle', 'smaller objects, for a proxy that would exhaust the memory of the machine')
  .option('--only <names>', 'only these attacks, separated by commas')
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
  const result = await measure(options);
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

async function measure(options: Options): Promise<NeighbourResult> {
  const progress = terminalProgress();
  const signal = interruption();
  const { proxy: proxyName } = options;
  const { servesSockets = false } = findProxy(proxyName);
  if (servesSockets) {
    await progress.step('eBPF programs', compileKernelPrograms);
  }
  const bundle = await progress.step('bundle of Fairlead', () => bundleFairlead());
  const tool = await provideBench({ progress, signal });
  await using lab = await startLab({ nodeCount: 1, load: BACKGROUND, progress, signal });
  if (servesSockets) await lab.makeSocketPlaces();
  const scene = await progress.step('a node that serves', () =>
    prepareScene({ lab, proxyName, program: bundle, signal }),
  );
  try {
    return await progress.step(`a hostile neighbour of ${proxyName}`, (detail) =>
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
    );
  } finally {
    await scene.proxy.daemon.kill();
  }
}
