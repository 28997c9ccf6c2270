import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { packRun, unpackRun } from './packed-run.ts';
import { RUN_FORMAT, type Run } from './record.ts';

export function emptyRun(of: Pick<Run, 'machine' | 'startedAt' | 'planted'>): Run {
  return { format: RUN_FORMAT, tookSeconds: 0, visits: [], limits: [], ...of };
}

/** Undefined: there is no such file. */
export async function readRun(file: string): Promise<Run | undefined> {
  if (!existsSync(file)) return undefined;
  const text = await readFile(file, 'utf8');
  const { format } = JSON.parse(text) as Pick<Run, 'format'>;
  if (format !== RUN_FORMAT)
    throw new Error(`${file} was written by another version of this program: measure again`);
  return unpackRun(text);
}

/** Written beside and then renamed: an interruption leaves either the old file or the new one. */
export async function keepRun(file: string, run: Run): Promise<void> {
  const unfinished = `${file}.writing`;
  await writeFile(unfinished, packRun(run));
  await rename(unfinished, file);
}
