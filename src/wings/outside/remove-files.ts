import { readdir, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../../cluster/cluster-error.ts';
import { below, CONFIG_FOLDER, RECORD_FILE, STATE_FOLDER } from './paths.ts';
import { dropFromRecord, dropRecord, fileState, type RecordedFile } from './record.ts';
import { TEMPORARY_SUFFIX } from './write-files.ts';

export interface RemovedFiles {
  readonly removed: readonly string[];
  /** Changed since Fairlead wrote them. */
  readonly kept: readonly string[];
}

/** Removes files that are as Fairlead wrote them; with force, also changed ones. */
export async function removeFiles(
  root: string,
  files: readonly RecordedFile[],
  force: boolean,
): Promise<RemovedFiles> {
  const removed: string[] = [];
  const kept: string[] = [];
  for (const file of files.toReversed()) {
    const path = below(root, file.path);
    const state = await fileState(root, file);
    await removeTemporary(path);
    if (state === 'changed' && !force) {
      kept.push(path);
      continue;
    }
    if (state !== 'missing') removed.push(path);
    await rm(path, { force: true });
    await dropFromRecord(root, { files: [file.path] });
  }
  return { removed, kept };
}

/** Deletes the record, and what a killed writer left beside it. */
export async function removeRecord(root: string): Promise<void> {
  await removeTemporary(below(root, RECORD_FILE));
  await dropRecord(root);
}

/** Those that are empty, the innermost first; our own two also when they were there before. */
export async function removeFolders(root: string, folders: readonly string[]): Promise<void> {
  const all = new Set([...folders, CONFIG_FOLDER, STATE_FOLDER]);
  const innermostFirst = [...all].sort((a, b) => b.split('/').length - a.split('/').length);
  for (const folder of innermostFirst) {
    await unless(['ENOENT', 'ENOTEMPTY'], () => rmdir(below(root, folder)));
  }
}

/** Files of a run: the service is gone, and saved settings were restored. */
export async function removeRunFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** A process that was killed while it wrote the file left these. */
async function removeTemporary(path: string): Promise<void> {
  const names = (await unless(['ENOENT'], () => readdir(dirname(path)))) ?? [];
  const left = names.filter(
    (name) => name.startsWith(`${basename(path)}.`) && name.endsWith(TEMPORARY_SUFFIX),
  );
  for (const name of left) await rm(join(dirname(path), name), { force: true });
}

async function unless<T>(codes: readonly string[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (codes.includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}
