import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { LoadSize } from '../../lab/load/objects.ts';
import type { Machine } from '../machine.ts';

/** Everything that a run has measured, as it is kept in its file. */
export interface ForwardingRun {
  readonly format: typeof FORMAT;
  readonly machine: Machine;
  readonly haproxy: string;
  readonly startedAt: string;
  tookSeconds: number;
  readonly visits: ForwardingVisit[];
}

/** The kinds of load; see lab/parts/bench/load.go. */
export const LOAD_KINDS = ['connect', 'request', 'transfer'] as const;
export type LoadKind = (typeof LOAD_KINDS)[number];

/** One way from the client to the endpoints, in one round. */
export interface ForwardingVisit {
  readonly size: LoadSize;
  readonly way: string;
  readonly round: number;
  /** Why there are no figures, or not all. */
  readonly ended?: string;
  /** New connections in the first second after the start. */
  readonly cold?: LoadFigures;
  /** Slices of load, which alternate with those of the other ways: the same index, the same moment. */
  readonly warm?: Readonly<Record<LoadKind, readonly LoadFigures[]>>;
  readonly held?: HeldFigures;
  readonly unread?: UnreadFigures;
}

/** CPU times in microseconds for each connection, request or megabyte (1,000,000 bytes). */
export interface LoadFigures {
  readonly perSecond: number;
  readonly failed: number;
  /** Of the process that forwards; 0 where the kernel does. */
  readonly processUs: number;
  readonly clientUs: number;
  readonly serverUs: number;
  /** Threads of the kernel that handle packets, and the agent. */
  readonly othersUs: number;
}

/** Memory for each of the connections that are held open, in bytes. */
export interface HeldFigures {
  readonly connections: number;
  /** Proportional set size of the process. */
  readonly processBytes: number;
  /** Objects and buffers of the kernel that are charged to it; undefined: not accounted for here. */
  readonly kernelBytes?: number;
}

/** A connection whose client sends all it can and whose endpoint never reads, in bytes. */
export interface UnreadFigures {
  readonly connections: number;
  /** What the client could send. */
  readonly takenBytes: number;
  readonly processBytes: number;
  /** In the queues of the sockets of the node. */
  readonly queueBytes: number;
}

const FORMAT = 1;

export function emptyForwardingRun(
  of: Pick<ForwardingRun, 'machine' | 'startedAt' | 'haproxy'>,
): ForwardingRun {
  return { format: FORMAT, tookSeconds: 0, visits: [], ...of };
}

export async function readForwardingRun(file: string): Promise<ForwardingRun | undefined> {
  if (!existsSync(file)) return undefined;
  const run = JSON.parse(await readFile(file, 'utf8')) as ForwardingRun;
  if (run.format === FORMAT) return run;
  throw new Error(`${file} was written by another version of this program: measure again`);
}

/** Written to a temporary file and renamed: an interrupted run leaves the old or the new file. */
export async function keepForwardingRun(file: string, run: ForwardingRun): Promise<void> {
  const unfinished = `${file}.writing`;
  await writeFile(unfinished, `${JSON.stringify(run, null, 1)}\n`);
  await rename(unfinished, file);
}
