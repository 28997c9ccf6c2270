import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Machine } from '../machine.ts';
import type { Memory } from '../record.ts';
import type { ReplacedFigures } from './replaced-endpoint.ts';

/** Everything that a run with shapes has measured, as it is kept in its file. */
export interface ShapeRun {
  readonly format: typeof FORMAT;
  readonly machine: Machine;
  readonly startedAt: string;
  tookSeconds: number;
  readonly visits: ShapeVisit[];
}

/** One proxy in a cluster with one shape, from its start to its end. */
export interface ShapeVisit {
  readonly shape: string;
  readonly proxy: string;
  readonly round: number;
  readonly tookSeconds: number;
  /** Why there are no figures, or not all. */
  readonly ended?: string;
  readonly cold?: ShapeCold;
  readonly large?: ShapeChange;
  readonly small?: ShapeChange;
}

export interface ShapeCold {
  /** From the start of the process until every Service answers, and the proxy says that it is done. */
  readonly ms: number;
  readonly cpuSeconds: number;
  readonly memory: Memory;
  /** Above what the machine held before. */
  readonly slabPeakBytes: number;
  readonly slabAfterBytes: number;
}

export interface ShapeChange extends ReplacedFigures {
  readonly slabPeakBytes: number;
  readonly memory: Memory;
}

const FORMAT = 1;

export function emptyShapeRun(of: Pick<ShapeRun, 'machine' | 'startedAt'>): ShapeRun {
  return { format: FORMAT, tookSeconds: 0, visits: [], ...of };
}

export async function readShapeRun(file: string): Promise<ShapeRun | undefined> {
  if (!existsSync(file)) return undefined;
  const text = await readFile(file, 'utf8');
  // JSON has no infinity: a change that never came is null in the file.
  const run = JSON.parse(text, (_key, value: unknown) =>
    value === null ? Number.POSITIVE_INFINITY : value,
  ) as ShapeRun;
  if (run.format !== FORMAT)
    throw new Error(`${file} was written by another version of this program: measure again`);
  return run;
}

/** Written to a temporary file and renamed: an interrupted run leaves the old or the new file. */
export async function keepShapeRun(file: string, run: ShapeRun): Promise<void> {
  const unfinished = `${file}.writing`;
  const text = JSON.stringify(run, null, 1).replaceAll(/\[[\s\d.,e+-]+\]/g, (list) =>
    list.replaceAll(/\s+/g, ''),
  );
  await writeFile(unfinished, `${text}\n`);
  await rename(unfinished, file);
}
