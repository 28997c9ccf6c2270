import { setTimeout as pause } from 'node:timers/promises';
import { abortable } from '../../lab/host/interruption.ts';
import type { Contestant } from '../contestants.ts';
import { firstAnswerAtMs, type Waiting } from '../control/asker.ts';
import { untilStarted } from '../control/cold.ts';
import { cpuSecondsOf, memoryOf } from '../control/process-figures.ts';
import { NODE, NODE_INDEX, type ProxyProcess, startOn } from '../control/proxy-process.ts';
import { SourcePorts } from '../control/source-ports.ts';
import { assertHooked } from '../site/hooks.ts';
import { wipeNode } from '../site/wipe.ts';
import type { Slab } from '../slab/slab.ts';
import { KernelWatch } from './kernel-watch.ts';
import type { ShapeChange, ShapeCold, ShapeVisit } from './record.ts';
import { type Replaceable, replaceEndpoints } from './replaced-endpoint.ts';
import type { ShapeSite } from './site.ts';

/** A proxy that takes longer, or more of the machine, is ended. */
const START_BOUND_MS = 120_000;
const SLAB_BOUND_BYTES = 4 * 1024 ** 3;
const SETTLE_MS = 2_000;
const GUARD_EVERY_MS = 100;
const MOST_CHANGES = 30;

export interface ShapeVisitOptions {
  readonly site: ShapeSite;
  readonly contestant: Contestant;
  readonly round: number;
  readonly program: readonly string[];
  readonly tool: string;
  readonly slab: Slab;
  readonly detail: (text: string) => void;
  readonly signal: AbortSignal;
}

type Figures = { -readonly [K in 'ended' | 'cold' | 'large' | 'small']?: ShapeVisit[K] };

/** One proxy on the node, from its start to its end; then the node is as if it had never been. */
export async function visitShape(options: ShapeVisitOptions): Promise<ShapeVisit> {
  const { site, contestant, slab, signal } = options;
  const begunAtMs = performance.now();
  await slab.calm(signal);
  slab.mark();
  const proxy = await startOn(site.lab, contestant.variant(options.program));
  const figures: Figures = {};
  const guard = setInterval(() => {
    if (slab.aboveBytes < SLAB_BOUND_BYTES || figures.ended !== undefined) return;
    figures.ended = 'ended: more than 4 GB of slab';
    void proxy.daemon.kill();
  }, GUARD_EVERY_MS);
  try {
    await measureShape(options, proxy, figures);
  } finally {
    clearInterval(guard);
    await proxy.daemon.kill();
  }
  signal.throwIfAborted();
  const pinFolder = site.lab.socketPlace(NODE_INDEX)?.pinFolder;
  await wipeNode(site.lab.namespacePath(NODE), { ...contestant, pinFolder });
  return {
    shape: site.shape.name,
    proxy: contestant.name,
    round: options.round,
    tookSeconds: (performance.now() - begunAtMs) / 1_000,
    ...figures,
  };
}

async function measureShape(
  options: ShapeVisitOptions,
  proxy: ProxyProcess,
  figures: Figures,
): Promise<void> {
  const { site, contestant, detail } = options;
  detail('start');
  const cold = await measureCold(options, proxy);
  if (cold === undefined) {
    const end = proxy.daemon.ended();
    const bound = `ended: not all answered in ${START_BOUND_MS / 1_000} s`;
    figures.ended ??= end === undefined ? bound : `exited unexpectedly (${end})`;
    return;
  }
  figures.cold = cold;
  if (contestant.isEbpf) await assertHooked(site.lab.socketPlace(NODE_INDEX));
  using watch = new KernelWatch({
    tool: options.tool,
    namespacePath: site.lab.namespacePath(NODE),
  });
  const change = (service: Replaceable): Promise<ShapeChange> =>
    measureChange(options, { proxy, service, watch });
  detail('changes of a small Service');
  figures.small = await change(site.small);
  detail('changes of the large Service');
  figures.large = await change(site.large);
}

async function measureCold(
  { site, slab, signal }: ShapeVisitOptions,
  proxy: ProxyProcess,
): Promise<ShapeCold | undefined> {
  const waiting: Waiting = {
    origin: {
      namespace: site.lab.namespacePath(NODE),
      group: site.lab.socketGroup(NODE_INDEX),
    },
    to: site.last.to,
    // No conntrack entry of an earlier proxy is left: the table was flushed.
    ports: new SourcePorts(),
    deadlineMs: START_BOUND_MS,
    signal,
  };
  const started = await untilStarted(proxy, waiting);
  if (started === undefined) return undefined;
  let ms = Math.max(started.answeredMs, started.programmedMs);
  for (const to of site.large.frontends) {
    const left = { ...waiting, to, deadlineMs: START_BOUND_MS - ms };
    const answeredAtMs = await firstAnswerAtMs(left, () => proxy.daemon.ended() === undefined);
    if (answeredAtMs === undefined) return undefined;
    // A Service that answers at the first try did so before.
    const isLate = answeredAtMs - proxy.startedAtMs - ms > 100;
    if (isLate) ms = answeredAtMs - proxy.startedAtMs;
  }
  await abortable(pause(SETTLE_MS), signal);
  return {
    ms,
    cpuSeconds: await cpuSecondsOf(proxy.daemon.pid),
    memory: await memoryOf(proxy.daemon.pid),
    slabPeakBytes: slab.peakAboveBytes,
    slabAfterBytes: slab.aboveBytes,
  };
}

async function measureChange(
  { contestant, slab, signal }: ShapeVisitOptions,
  of: { proxy: ProxyProcess; service: Replaceable; watch: KernelWatch },
): Promise<ShapeChange> {
  slab.mark();
  const figures = await replaceEndpoints({
    service: of.service,
    watch: of.watch,
    count: Math.min(contestant.changes, MOST_CHANGES),
    quietMs: contestant.quietMs,
    signal,
    isOver: () => of.proxy.daemon.ended() !== undefined,
  });
  return {
    ...figures,
    slabPeakBytes: slab.peakAboveBytes,
    memory: await memoryOf(of.proxy.daemon.pid),
  };
}
