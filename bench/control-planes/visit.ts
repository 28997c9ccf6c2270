import { setTimeout as pause } from 'node:timers/promises';
import { abortable } from '../../lab/host/interruption.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { cpuSecondsOf, memoryOf } from '../control/process-figures.ts';
import { NODE, NODE_INDEX, startOn } from '../control/proxy-process.ts';
import type { Site } from '../site/site.ts';
import { wipeNode } from '../site/wipe.ts';
import { untilIdle } from './idle.ts';
import type { ControlPlaneVisit } from './record.ts';

const START_DEADLINE_MS = 180_000;
const CHANGES_DEADLINE_MS = 120_000;
const IDLE_MS = 10_000;
const MS = 1_000;

interface Options {
  readonly site: Site;
  readonly variant: ProxyVariant;
  readonly round: number;
  readonly detail: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Counts what a control plane spends on its start, on changes, and on nothing. No packet is sent. */
export async function visitControlPlane(options: Options): Promise<ControlPlaneVisit> {
  const { site, variant, round, detail, signal } = options;
  const { daemon } = await startOn(site.lab, variant);
  const { pid } = daemon;
  try {
    detail('start');
    const started = await untilIdle(pid, { deadlineMs: START_DEADLINE_MS, signal });
    const memory = await memoryOf(pid);
    detail('nothing');
    const idleFrom = await cpuSecondsOf(pid);
    await abortable(pause(IDLE_MS), signal);
    const idleTo = await cpuSecondsOf(pid);
    detail('changes');
    const count = await site.loaded.flip(signal);
    const changed = await untilIdle(pid, { deadlineMs: CHANGES_DEADLINE_MS, signal });
    return {
      size: site.size,
      name: variant.name,
      round,
      start: { cpuSeconds: started, memory },
      changes: { count, cpuSeconds: changed - idleTo },
      idleCpuMsPerSecond: ((idleTo - idleFrom) * MS) / (IDLE_MS / MS),
    };
  } finally {
    await daemon.kill();
    const pinFolder = site.lab.socketPlace(NODE_INDEX)?.pinFolder;
    await wipeNode(site.lab.namespacePath(NODE), { isLegacy: false, pinFolder });
  }
}
