import { dirname, relative } from 'node:path';
import { CommandError } from '../../commands/command-error.ts';
import type { Done } from './apply-objects.ts';
import type { PlannedFile } from './init-plan.ts';
import { below, STATE_FOLDER } from './paths.ts';
import { addToRecord, fileEntry, fileState, type RecordedFile, readRecord } from './record.ts';
import {
  makeFolder,
  missingFolders,
  orCommandError,
  PUBLIC_FOLDER_MODE,
  SECRET_FOLDER_MODE,
  textOf,
  writeAtomically,
} from './write-files.ts';

export interface DoneFile {
  readonly path: string;
  readonly done: Done;
}

/** Throws if a file is there that Fairlead did not write, before anything is changed. */
export async function assertOwnFiles(
  root: string,
  files: readonly Pick<PlannedFile, 'path' | 'text'>[],
): Promise<void> {
  const { files: recorded } = await readRecord(root);
  const foreign: string[] = [];
  for (const { path, text } of files) {
    const entry = recorded.find((file) => file.path === path);
    const found = await textOf(below(root, path));
    if (found === undefined || found === text) continue;
    if (entry === undefined || (await fileState(root, entry)) === 'changed') foreign.push(path);
  }
  if (foreign.length === 0) return;
  const what = foreign.map((path) => below(root, path)).join(', ');
  throw new CommandError(`${what}: not written by fairlead, or changed since; not overwritten`, {
    code: 'FILE_NOT_OURS',
    next: 'move it away, or pass --force to overwrite it; nothing was changed',
  });
}

/** Records the folders that are about to be made, and makes them. */
export async function makeFolders(root: string, paths: readonly string[]): Promise<void> {
  const missing: string[] = [];
  for (const path of [STATE_FOLDER, ...paths.map(dirname)]) {
    const made = await explained(path, () => missingFolders(below(root, path)));
    missing.push(...made.map((folder) => `/${relative(root, folder)}`));
  }
  const own = missing.filter((folder) => !folder.startsWith('/..') && folder !== '/');
  await explained(below(root, STATE_FOLDER), () =>
    makeFolder(below(root, STATE_FOLDER), SECRET_FOLDER_MODE),
  );
  await addToRecord(root, { folders: [...new Set(own)] });
  for (const path of paths.map(dirname)) {
    if (path === STATE_FOLDER) continue;
    await explained(path, () => makeFolder(below(root, path), PUBLIC_FOLDER_MODE));
  }
}

/** Writes a file whose folder exists. `entry`: how it is recorded. */
export async function installFile(
  root: string,
  { path, text, mode }: PlannedFile,
  entry: RecordedFile = fileEntry(path, text),
): Promise<DoneFile> {
  const target = below(root, path);
  const before = await explained(target, () => textOf(target));
  await addToRecord(root, { files: [entry] });
  if (before === text) return { path, done: 'unchanged' };
  await explained(target, () => writeAtomically(target, { text, mode }));
  return { path, done: before === undefined ? 'created' : 'changed' };
}

async function explained<T>(path: string, work: () => Promise<T>): Promise<T> {
  return await orCommandError({ what: `cannot write ${path}`, code: 'FILE_UNWRITABLE' }, work);
}
