import { LabError } from '../../lab/host/errors.ts';
import { until } from '../../lab/host/until.ts';
import { wipeNode } from '../site/wipe.ts';
import { mostHeld } from './files.ts';
import { type LoadOptions, load, type Processes, packetThreads } from './load.ts';
import { measureHeld, measureUnread } from './memory.ts';
import { type ForwardingVisit, LOAD_KINDS, type LoadFigures, type LoadKind } from './record.ts';
import type { ForwardingSite } from './site.ts';
import { type Group, type RunningWay, type Way, wayText } from './ways.ts';

/** Thousands of listeners take HAProxy seconds, as do thousands of Services any proxy. */
const START_DEADLINE_MS = 120_000;
const PROBE_MS = 100;
const COLD_MS = 1_000;
/** Node compiles what is hot in the first 50,000 connections or so. */
const WARM_MS: Readonly<Record<LoadKind, number>> = {
  connect: 12_000,
  request: 3_000,
  transfer: 1_000,
};
/** Short, so that a moment in which the machine is slower falls on all ways. */
const SLICE_MS = 500;
/** Until the connections of a slice are open. */
const SETTLE_MS = 100;

export interface GroupOptions {
  readonly site: ForwardingSite;
  readonly group: Group;
  /** What Node is given to run Fairlead. */
  readonly program: readonly string[];
  readonly round: number;
  /** Slices of each kind of load and way. */
  readonly slices: number;
  /** Connections to hold, if descriptors allow; 0: memory is not measured. */
  readonly held: number;
  readonly detail: (text: string) => void;
  readonly signal: AbortSignal;
}

type Figures = {
  -readonly [K in 'ended' | 'cold' | 'held' | 'unread']?: ForwardingVisit[K];
} & { readonly warm: Record<LoadKind, LoadFigures[]> };

/** A way of the group, with what was measured of it. */
interface Started {
  readonly way: Way;
  readonly running: RunningWay;
  readonly figures: Figures;
  /** Once it forwards. */
  processes: Processes;
}

/** The ways of a group side by side, from start to end; then the node is as if they had never been. */
export async function visitGroup(options: GroupOptions): Promise<ForwardingVisit[]> {
  const { site, group, round, signal } = options;
  const started: Started[] = [];
  try {
    for (const way of group.ways) started.push(await start(options, way));
    const usable = (): Started[] => started.filter(({ figures }) => figures.ended === undefined);
    for (const each of usable()) await orEnded(each, options, () => warmUp(options, each));
    await alternate(options, usable());
    if (options.held > 0) {
      for (const each of usable()) await orEnded(each, options, () => memory(options, each));
    }
  } finally {
    for (const { running } of started) await running.stop();
  }
  signal.throwIfAborted();
  await wipeNode(site.nodePath, { isLegacy: false });
  return started.map(({ way, figures }) => ({
    size: site.size,
    way: wayText(way),
    round,
    ...figures,
  }));
}

async function start(options: GroupOptions, way: Way): Promise<Started> {
  options.detail(`start of ${wayText(way)}`);
  const running = await way.start(options.site, options.program);
  const figures: Figures = { warm: { connect: [], request: [], transfer: [] } };
  return { way, running, figures, processes: { forwarding: [], others: [] } };
}

/** Other ways may still be measured. */
async function orEnded(
  { figures }: Started,
  { signal }: GroupOptions,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof LabError) || signal.aborted) throw error;
    figures.ended = `ended: ${error.message}`;
  }
}

async function warmUp(options: GroupOptions, started: Started): Promise<void> {
  options.detail(`first seconds of ${wayText(started.way)}`);
  started.processes = await untilForwarding(options, started);
  const times = { warmMs: 0, countMs: COLD_MS };
  started.figures.cold = await put(options, started, { kind: 'connect', ...times });
  for (const kind of LOAD_KINDS) {
    await put(options, started, { kind, warmMs: WARM_MS[kind], countMs: SETTLE_MS });
  }
}

/** A B C, C B A: what is warm from the way before is so for all. */
async function alternate(options: GroupOptions, ways: readonly Started[]): Promise<void> {
  for (let slice = 0; slice < options.slices; slice++) {
    options.detail(`slice ${slice + 1} of ${options.slices}`);
    for (const kind of LOAD_KINDS) {
      for (const each of slice % 2 === 0 ? ways : ways.toReversed()) {
        if (each.figures.ended !== undefined) continue;
        const times = { warmMs: SETTLE_MS, countMs: SLICE_MS };
        await orEnded(each, options, async () => {
          each.figures.warm[kind].push(await put(options, each, { kind, ...times }));
        });
      }
    }
  }
}

async function memory(options: GroupOptions, { way, running, processes, figures }: Started) {
  const { site, detail } = options;
  const [pid] = processes.forwarding;
  if (pid === undefined) return;
  detail(`connections held by ${wayText(way)}`);
  const connections = Math.min(options.held, await mostHeld(site.forwarded.length));
  figures.held = await measureHeld(site, { to: running.to.echo, pid, connections });
  detail(`connections that nobody reads, by ${wayText(way)}`);
  figures.unread = await measureUnread(site, { to: running.to.mute, pid });
}

/** The kernel may translate connections before the process takes them, so its CPU time must rise. */
async function untilForwarding(options: GroupOptions, started: Started): Promise<Processes> {
  const { way, running } = started;
  const threads = await packetThreads();
  return await until(
    async () => {
      const end = running.ended();
      if (end !== undefined) {
        throw new LabError('LAB_PROCESS_ENDED', `${wayText(way)} exited (${end})`, {
          next: `read its log in ${options.site.lab.folder}/logs`,
        });
      }
      const { forwarding, others } = await running.processes();
      if (way.threads > 0 && forwarding.length === 0) return undefined;
      const processes = { forwarding, others: [...others, ...threads] };
      const probed = await probe(options, { running, processes });
      if (probed === undefined || probed.failed > 0) return undefined;
      const isUsed = way.threads === 0 || probed.processUs > 0;
      return isUsed ? processes : undefined;
    },
    {
      what: `${wayText(way)} to forward`,
      deadlineMs: START_DEADLINE_MS,
      signal: options.signal,
    },
  );
}

/** Undefined: no connection was forwarded, so the way is not there yet. */
async function probe(
  options: GroupOptions,
  way: Pick<Started, 'running' | 'processes'>,
): Promise<LoadFigures | undefined> {
  try {
    return await put(options, way, { kind: 'connect', warmMs: 0, countMs: PROBE_MS });
  } catch (error) {
    if (error instanceof LabError && error.code === 'LAB_DEADLINE') return undefined;
    throw error;
  }
}

async function put(
  { site, signal }: GroupOptions,
  { running, processes }: Pick<Started, 'running' | 'processes'>,
  of: Pick<LoadOptions, 'kind' | 'warmMs' | 'countMs'>,
): Promise<LoadFigures> {
  return await load(site, { ...of, to: running.to, processes, signal });
}
