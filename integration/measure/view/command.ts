import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { SHIPPED_FLAGS } from '../../../bench/bundle.ts';
import { type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { formatTable } from '../../../lab/host/table.ts';
import { says } from '../top/says.ts';
import { type Used, used } from '../top/used.ts';
import { burstsAlone, burstsInPairs, figuresOf, heldMb, type PairFigures } from './pairs.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const LIMITS = {
  firstMs: 1_000,
  tickBytes: 20_000,
  viewCpu: 0.08,
  agentMoreMb: 15,
  cpuRatio: 1.1,
  addedPauseMs: 10,
} as const;
/** They fill the history, which is no matter of the page. */
const FIRST_BURSTS = 5;
/** What the pairs of bursts take, at most: the page stays open. */
const PAIR_SECONDS = 8;

interface Options {
  readonly services: number;
  readonly endpoints: number;
  readonly flows: number;
  readonly newPerSecond: number;
  readonly seconds: number;
  readonly pairs: number;
}

/** One line of the page. */
interface Answer {
  readonly what: string;
  readonly bytes: number;
  readonly afterMs: number;
}

/** Fails beyond the limits. CPU is that of the processes, so a busy machine changes little. */
export const command = new Command()
  .option('--services <count>', 'Services of the cluster', Number, 50_000)
  .option('--endpoints <count>', 'endpoints of each', Number, 5)
  .option('--flows <count>', 'live connections', Number, 200_000)
  .option('--new-per-second <count>', 'new connections', Number, 1_000)
  .option('--seconds <count>', 'how long a page is open before changes are made', Number, 40)
  .option('--pairs <count>', 'bursts of changes, without and with a page', Number, 20)
  .action(measure);

async function measure(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-measure-view-'));
  const daemons: Daemon[] = [];
  const start = (name: string, of: { in: number; argv: readonly string[] }): Daemon => {
    const daemon = startDaemon({
      name,
      namespacePath: `/proc/${of.in}/ns/net`,
      argv: [process.execPath, ...SHIPPED_FLAGS, ...of.argv],
      logFile: join(folder, `${name}.log`),
    });
    daemons.push(daemon);
    return daemon;
  };
  const half = (name: string): string => join(import.meta.dirname, `../top/${name}.ts`);
  try {
    const { seconds } = options;
    const sizes = [`${options.services}`, `${options.endpoints}`];
    const agent = start('agent', { in: process.pid, argv: [half('node-half'), folder, ...sizes] });
    await says(agent, 'open');
    const load = [`${options.flows}`, `${options.newPerSecond}`];
    const flood = start('flood', { in: agent.pid, argv: [half('flood'), folder, ...load] });
    await says(flood, 'ready');
    await burstsAlone(agent, FIRST_BURSTS);
    const heldAlone = await heldMb(agent);
    const alone = await used(agent.pid, seconds / 2);
    const view = start('view', { in: agent.pid, argv: [MAIN, 'view', '--run-folder', folder] });
    await says(view, 'token=');
    const unseen = await used(agent.pid, seconds / 4);
    const page = start('page', {
      in: agent.pid,
      argv: [
        join(import.meta.dirname, 'page.ts'),
        view.logFile,
        `${seconds + options.pairs * PAIR_SECONDS}`,
      ],
    });
    await says(page, '"tick"');
    const [beside, serving] = await Promise.all([
      used(agent.pid, seconds - 5),
      used(view.pid, seconds - 5),
    ]);
    const held = { without: heldAlone, beside: await heldMb(agent) };
    const pairs = await burstsInPairs({ agent, view }, options.pairs);
    await page.stop();
    if (flood.ended() !== undefined) {
      throw new Error(`the load ended: ${readFileSync(flood.logFile, 'utf8')}`);
    }
    const changes = figuresOf(pairs);
    report(options, { alone, unseen, beside, serving, held, changes, answers: answersOf(page) });
  } finally {
    for (const daemon of daemons.toReversed()) await daemon.stop();
    rmSync(folder, { recursive: true });
  }
}

function answersOf({ logFile }: Daemon): readonly Answer[] {
  const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Answer);
}

interface Measured {
  readonly alone: Used;
  /** The command runs, and no page is open. */
  readonly unseen: Used;
  readonly beside: Used;
  readonly serving: Used;
  /** Of the agent after a full collection: how much garbage V8 keeps differs from run to run. */
  readonly held: { readonly without: number; readonly beside: number };
  readonly changes: PairFigures;
  readonly answers: readonly Answer[];
}

function report(options: Options, of: Measured): void {
  const { alone, unseen, beside, serving, held, changes, answers } = of;
  const { services, endpoints, flows, newPerSecond } = options;
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const row = (name: string, { cpu, mostMb }: Used) => [name, percent(cpu), mostMb.toFixed(0)];
  console.log(
    `${services} Services with ${endpoints} endpoints each, ${flows} connections, ${newPerSecond} new/s`,
  );
  console.log(
    formatTable([
      ['', 'of one CPU', 'MB at most'],
      row('agent, nobody looks', alone),
      row('agent, no page is open', unseen),
      row('agent, a page is open', beside),
      row('fairlead view', serving),
    ]),
  );
  const first = (what: string): number =>
    answers.find((each) => each.what === what)?.afterMs ?? Number.POSITIVE_INFINITY;
  const ticks = answers.filter(({ what }) => what === 'tick').map(({ bytes }) => bytes);
  const tickBytes = Math.max(...ticks);
  const dots = answers.find(({ what }) => what === '/data/dots');
  console.log(
    `first data after ${Math.round(first('hello'))} ms, all dots after ${Math.round(first('/data/dots'))} ms (${dots?.bytes} bytes), first tick after ${Math.round(first('tick'))} ms; ${ticks.length} ticks of at most ${tickBytes} bytes`,
  );
  const { cpuUs, ratio, pauseMs, collectionMs } = changes;
  console.log(
    `CPU of a change: ${cpuUs.without.toFixed(0)} µs without, ${cpuUs.beside.toFixed(0)} µs with a page, ratio ${ratio.toFixed(3)} (median of ${options.pairs} pairs); longest pause of the agent's loop: ${pauseMs.without.toFixed(1)} ms without, ${pauseMs.beside.toFixed(1)} ms with a page; longest garbage collection ${collectionMs.without.toFixed(1)} and ${collectionMs.beside.toFixed(1)} ms`,
  );
  const moreMb = beside.mostMb - alone.mostMb;
  console.log(
    `agent after a full collection: ${held.without.toFixed(1)} MB without, ${held.beside.toFixed(1)} MB with a page`,
  );
  const isWithin =
    ratio <= LIMITS.cpuRatio &&
    pauseMs.beside - pauseMs.without <= LIMITS.addedPauseMs &&
    first('hello') <= LIMITS.firstMs &&
    tickBytes <= LIMITS.tickBytes &&
    serving.cpu <= LIMITS.viewCpu &&
    moreMb <= LIMITS.agentMoreMb;
  console.log(
    `${isWithin ? 'within' : 'BEYOND'} the limits: first data ${LIMITS.firstMs} ms, a tick ${LIMITS.tickBytes} bytes, view ${percent(serving.cpu)} of ${percent(LIMITS.viewCpu)}, agent ${moreMb.toFixed(1)} MB more of ${LIMITS.agentMoreMb}, CPU of a change ${LIMITS.cpuRatio} times, ${LIMITS.addedPauseMs} ms more of a pause`,
  );
  if (!isWithin) process.exitCode = 1;
}
