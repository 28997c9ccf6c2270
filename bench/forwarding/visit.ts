import { LabError } from '../../lab/host/errors.ts';
import { until } from '../../lab/host/until.ts';
import { wipeNode } from '../site/wipe.ts';
import { mostHeld } from './files.ts';
import { load, type Processes, packetThreads } from './load.ts';
import { measureHeld, measureUnread } from './memory.ts';
import type { ForwardingVisit, HeldFigures, LoadFigures } from './record.ts';
import type { ForwardingSite } from './site.ts';
import { type RunningWay, type Way, wayText } from './ways.ts';

/** Thousands of listeners take HAProxy seconds, as do thousands of Services any proxy. */
const START_DEADLINE_MS = 120_000;
const PROBE_MS = 100;
const COLD_MS = 1_000;
/** Node compiles what is hot within the first two seconds. */
const WARM_MS = 3_000;

export interface VisitOptions {
  readonly site: ForwardingSite;
  readonly way: Way;
  /** What Node is given to run Fairlead. */
  readonly program: readonly string[];
  readonly round: number;
  readonly countMs: number;
  /** Connections to hold, if descriptors allow; 0: memory is not measured. */
  readonly held: number;
  readonly detail: (text: string) => void;
  readonly signal: AbortSignal;
}

type Figures = {
  -readonly [K in 'ended' | 'cold' | 'warm' | 'held' | 'unread']?: ForwardingVisit[K];
};

/** One way, from its start to its end; then the node is as if it had never been. */
export async function visitWay(options: VisitOptions): Promise<ForwardingVisit> {
  const { site, way, round, signal } = options;
  const begunAtMs = performance.now();
  const figures: Figures = {};
  const running = await way.start(site, options.program);
  try {
    await measure(options, running, figures);
  } catch (error) {
    // Another way may still be measured.
    if (!(error instanceof LabError) || signal.aborted) throw error;
    figures.ended = `ended: ${error.message}`;
  } finally {
    await running.stop();
  }
  signal.throwIfAborted();
  await wipeNode(site.nodePath, { isLegacy: false });
  return {
    size: site.size,
    way: wayText(way),
    round,
    tookSeconds: (performance.now() - begunAtMs) / 1_000,
    ...figures,
  };
}

async function measure(
  options: VisitOptions,
  running: RunningWay,
  figures: Figures,
): Promise<void> {
  const { site, way, detail, countMs, signal } = options;
  const { to } = running;
  detail('start');
  const processes = await untilForwarding(options, running);
  const cold = { warmMs: 0, countMs: COLD_MS };
  const warm = { warmMs: WARM_MS, countMs };
  detail('new connections');
  figures.cold = await load(site, { kind: 'connect', to, processes, ...cold, signal });
  const connect = await load(site, { kind: 'connect', to, processes, ...warm, signal });
  detail('requests');
  const request = await load(site, { kind: 'request', to, processes, ...warm, signal });
  detail('bytes');
  const transfer = await load(site, { kind: 'transfer', to, processes, ...warm, signal });
  figures.warm = { connect, request, transfer };
  const [pid] = processes.forwarding;
  if (way.threads === 0 || pid === undefined || options.held === 0) return;
  detail('held connections');
  figures.held = await held(options, { to: to.echo, pid });
  detail('connections that nobody reads');
  figures.unread = await measureUnread(site, { to: to.mute, pid });
}

/** The kernel may translate connections before the process takes them, so its CPU time must rise. */
async function untilForwarding(options: VisitOptions, running: RunningWay): Promise<Processes> {
  const { site, way, signal } = options;
  const threads = await packetThreads();
  return await until(
    async () => {
      const end = running.ended();
      if (end !== undefined) {
        throw new LabError('LAB_PROCESS_ENDED', `${way.name} exited (${end})`, {
          next: `read its log in ${site.lab.folder}/logs`,
        });
      }
      const { forwarding, others } = await running.processes();
      if (way.threads > 0 && forwarding.length === 0) return undefined;
      const processes = { forwarding, others: [...others, ...threads] };
      const probe = await probed({ ...options, running, processes });
      const isServing = probe.failed === 0 && probe.perSecond > 0;
      const isUsed = way.threads === 0 || probe.processUs > 0;
      return isServing && isUsed ? processes : undefined;
    },
    { what: `${wayText(way)} to forward`, deadlineMs: START_DEADLINE_MS, signal },
  );
}

async function probed(
  of: VisitOptions & { running: RunningWay; processes: Processes },
): Promise<LoadFigures> {
  const { running, processes, signal } = of;
  const times = { warmMs: 0, countMs: PROBE_MS };
  return await load(of.site, { kind: 'connect', to: running.to, processes, ...times, signal });
}

async function held(
  { site, held: wanted }: VisitOptions,
  of: { to: string; pid: number },
): Promise<HeldFigures> {
  const connections = Math.min(wanted, await mostHeld(site.forwarded.length));
  return await measureHeld(site, { ...of, connections });
}
