import { readdir, readFile } from 'node:fs/promises';
import { type AskedFigures, DATA_MODES, type DataFigures, type DataMode } from '../record.ts';
import type { DataPods } from '../site/data-pods.ts';
import { forgetConnections } from '../site/wipe.ts';
import { ask } from './ask.ts';

interface Load {
  readonly durationMs: number;
  readonly workers: number;
}

/** A single client for the time of a first packet: under load it would be the time in queues. */
const LOADS: Readonly<Record<DataMode, Load>> = {
  connect: { durationMs: 500, workers: 16 },
  first: { durationMs: 300, workers: 1 },
  request: { durationMs: 300, workers: 16 },
  throughput: { durationMs: 300, workers: 2 },
  datagram: { durationMs: 300, workers: 16 },
};

export interface DataPathOptions {
  readonly pods: DataPods;
  readonly nodePath: string;
  /** False: nobody makes the Service's address work. */
  readonly hasProxy: boolean;
  readonly cycles: number;
  readonly signal: AbortSignal;
}

/** Each kind of load to the pod and then through the Service, all kinds in turns, some times over. */
export async function measureDataPath(options: DataPathOptions): Promise<DataFigures[]> {
  const { pods, hasProxy, cycles, signal } = options;
  const figures: DataFigures[] = [];
  for (let cycle = 0; cycle < cycles; cycle++) {
    for (const mode of DATA_MODES) {
      signal.throwIfAborted();
      const way = mode === 'throughput' ? pods.sink : pods.echo;
      const direct = await measureOne(options, mode, way.direct);
      const service = hasProxy ? await measureOne(options, mode, way.service) : undefined;
      figures.push({ mode, direct, ...(service ? { service } : {}) });
    }
  }
  return figures;
}

async function measureOne(
  { pods, nodePath }: DataPathOptions,
  mode: DataMode,
  to: string,
): Promise<AskedFigures> {
  await forgetConnections(nodePath);
  const helpers = [pods.server.pid, ...(await packetThreads())];
  const before = await cpuSecondsOf(helpers);
  const asked = await ask(pods, { mode, to, ...LOADS[mode] });
  const cpuSeconds = asked.cpuSeconds + (await cpuSecondsOf(helpers)) - before;
  return {
    perSecond: asked.count / asked.seconds,
    failed: asked.failed,
    cpuMicroseconds: (cpuSeconds / asked.count) * 1e6,
    ...(asked.p50Us === undefined ? {} : { p50Us: asked.p50Us }),
    ...(asked.p99Us === undefined ? {} : { p99Us: asked.p99Us }),
  };
}

/** The kernel's threads that handle packets when those who sent them had no time for it. */
async function packetThreads(): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const names = await Promise.all(
    pids.map(async (pid) => ({ pid, name: await readUnlessGone(`/proc/${pid}/comm`) })),
  );
  return names.filter(({ name }) => name.startsWith('ksoftirqd/')).map(({ pid }) => Number(pid));
}

/** By the scheduler's own count, in nanoseconds: the ticks that others use are too coarse here. */
async function cpuSecondsOf(pids: readonly number[]): Promise<number> {
  let nanoseconds = 0;
  for (const pid of pids) {
    for (const task of await readdir(`/proc/${pid}/task`)) {
      const text = await readUnlessGone(`/proc/${pid}/task/${task}/schedstat`);
      nanoseconds += Number(text.split(' ')[0]);
    }
  }
  return nanoseconds / 1e9;
}

/** Processes and threads end while others look at them. */
async function readUnlessGone(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return '';
    throw error;
  });
}
