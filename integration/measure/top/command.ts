import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { SHIPPED_FLAGS } from '../../../bench/bundle.ts';
import { type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { formatTable } from '../../../lab/host/table.ts';
import { until } from '../../../lab/host/until.ts';
import type { Tick } from '../../../src/wings/top/traffic-figures.ts';
import { says } from './says.ts';
import { type Used, used } from './used.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const DEADLINE_MS = 300_000;
const LIMITS = { topCpu: 0.05, agentMoreMb: 15 } as const;

interface Options {
  readonly services: number;
  readonly endpoints: number;
  readonly flows: number;
  readonly newPerSecond: number;
  readonly seconds: number;
}

/** Fails beyond the limits. CPU is that of the processes, so a busy machine changes little. */
export const command = new Command()
  .option('--services <count>', 'Services of the cluster', Number, 50_000)
  .option('--endpoints <count>', 'endpoints of each', Number, 5)
  .option('--flows <count>', 'live connections', Number, 200_000)
  .option('--new-per-second <count>', 'new connections', Number, 1_000)
  .option('--seconds <count>', 'how long to look', Number, 40)
  .action(measure);

async function measure(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-measure-top-'));
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
  const half = (name: string): string => join(import.meta.dirname, `${name}.ts`);
  try {
    const sizes = [`${options.services}`, `${options.endpoints}`];
    const agent = start('agent', { in: process.pid, argv: [half('node-half'), folder, ...sizes] });
    await says(agent, 'open');
    const inside = agent.pid;
    const load = [`${options.flows}`, `${options.newPerSecond}`];
    const flood = start('flood', { in: inside, argv: [half('flood'), folder, ...load] });
    await says(flood, 'ready');
    const alone = await used(agent.pid, options.seconds / 2);
    const args = ['top', '-o', 'json', '--interval', '2s', '--run-folder', folder];
    const top = start('top', { in: inside, argv: [MAIN, ...args] });
    await until(() => ticksOf(top).length > 0, { what: 'a tick', deadlineMs: DEADLINE_MS });
    const [beside, looking] = await Promise.all([
      used(agent.pid, options.seconds),
      used(top.pid, options.seconds),
    ]);
    await top.stop();
    const isFlooding = flood.ended() === undefined;
    if (!isFlooding) throw new Error(`the load ended: ${readFileSync(flood.logFile, 'utf8')}`);
    const after = await used(agent.pid, options.seconds / 4);
    report(options, { alone, beside, looking, after, last: ticksOf(top).at(-1) });
  } finally {
    for (const daemon of daemons.toReversed()) await daemon.stop();
    rmSync(folder, { recursive: true });
  }
}

function ticksOf({ logFile }: Daemon): Tick[] {
  const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Tick);
}

function report(
  options: Options,
  of: { alone: Used; beside: Used; looking: Used; after: Used; last: Tick | undefined },
): void {
  const { alone, beside, looking, after, last } = of;
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
      row('agent, somebody looks', beside),
      row('agent, afterwards', after),
      row('fairlead top', looking),
    ]),
  );
  console.log(`last tick: ${JSON.stringify(last?.sources)} ${JSON.stringify(last?.totals)}`);
  const moreMb = beside.mostMb - alone.mostMb;
  const isWithin = looking.cpu <= LIMITS.topCpu && moreMb <= LIMITS.agentMoreMb;
  console.log(
    `${isWithin ? 'within' : 'BEYOND'} the limits: top ${percent(looking.cpu)} of ${percent(LIMITS.topCpu)}, agent ${moreMb.toFixed(1)} MB more of ${LIMITS.agentMoreMb}`,
  );
  if (!isWithin) process.exitCode = 1;
}
