import { readFile, writeFile } from 'node:fs/promises';
import { LabError } from '../../lab/host/errors.ts';
import type { LoadSize } from '../../lab/load/objects.ts';
import type { Machine } from '../machine.ts';
import type { Memory } from '../record.ts';

/** Everything that a run has measured, as it is kept in its file. */
export interface ControlPlaneRun {
  readonly machine: Machine;
  readonly startedAt: string;
  tookSeconds: number;
  readonly visits: ControlPlaneVisit[];
}

/** One control plane in one cluster, in one round. */
export interface ControlPlaneVisit {
  readonly size: LoadSize;
  readonly name: string;
  readonly round: number;
  /** From the start of the process until it is idle. */
  readonly start: { readonly cpuSeconds: number; readonly memory: Memory };
  /** From the first of so many changes, each of another slice, until it is idle again. */
  readonly changes: { readonly count: number; readonly cpuSeconds: number };
  /** While nothing changes. */
  readonly idleCpuMsPerSecond: number;
}

export async function keepControlPlaneRun(file: string, run: ControlPlaneRun): Promise<void> {
  await writeFile(file, `${JSON.stringify(run, null, 2)}\n`);
}

export async function readControlPlaneRun(file: string): Promise<ControlPlaneRun> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ControlPlaneRun;
  } catch (cause) {
    throw new LabError('LAB_NOT_FOUND', `cannot read ${file}: ${String(cause)}`, {
      next: 'measure first, with --json',
    });
  }
}
