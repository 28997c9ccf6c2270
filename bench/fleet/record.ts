import { readFile, writeFile } from 'node:fs/promises';
import { LabError } from '../../lab/host/errors.ts';
import type { LoadSize } from '../../lab/load/objects.ts';
import type { Machine } from '../machine.ts';

/** Everything that a run has measured, as it is kept in its file. */
export interface FleetRun {
  readonly machine: Machine;
  readonly startedAt: string;
  readonly size: LoadSize;
  tookSeconds: number;
  readonly visits: FleetVisit[];
}

/** One proxy on a growing number of machines. */
export interface FleetVisit {
  readonly proxy: string;
  readonly steps: readonly FleetStep[];
  readonly herds: readonly Herd[];
}

/** With this many machines. Costs are those of the API server. */
export interface FleetStep {
  readonly machines: number;
  /** Of the machines that were started for this step. */
  readonly start: ApiCost & { readonly machines: number; readonly tookSeconds: number };
  /** Of so many changes of one slice, written one after the other. */
  readonly changes: ApiCost & { readonly count: number };
  /** Of the API server, after both. */
  readonly residentBytes: number;
}

/** What the API server spent, and what it sent to all machines, with headers. */
export interface ApiCost {
  readonly cpuSeconds: number;
  readonly sentBytes: number;
}

/** All machines after the API server was replaced by another on the same store. */
export interface Herd extends ApiCost {
  readonly machines: number;
  readonly jitter: boolean;
  /** Of each machine: from the first answer of the new API server until it forwards by a later change. */
  readonly rightAfterMs: readonly number[];
}

export async function keepFleetRun(file: string, run: FleetRun): Promise<void> {
  await writeFile(file, `${JSON.stringify(run, null, 2)}\n`);
}

export async function readFleetRun(file: string): Promise<FleetRun> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as FleetRun;
  } catch (cause) {
    throw new LabError('LAB_NOT_FOUND', `cannot read ${file}: ${String(cause)}`, {
      next: 'measure first, with --json',
    });
  }
}
