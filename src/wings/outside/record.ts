import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { arrayAt, isRecord, type JsonRecord, parseJson, textAt } from '../../cluster/json.ts';
import { CommandError } from '../../commands/command-error.ts';
import { below, RECORD_FILE } from './paths.ts';
import {
  makeFolder,
  orCommandError,
  SECRET_FILE_MODE,
  SECRET_FOLDER_MODE,
  sha256Of,
  textOf,
  writeAtomically,
} from './write-files.ts';

/**
 * What `fairlead outside` made on a machine and in its cluster. Each thing is added before it is
 * made, so that `fairlead outside off` also removes what an interrupted command left. Paths are
 * those of the machine, without `--root`.
 */
export interface OutsideRecord {
  readonly files: readonly RecordedFile[];
  /** Folders that did not exist before, the outermost first. */
  readonly folders: readonly string[];
  /** Names of systemd units. */
  readonly units: readonly string[];
  /** Names of interfaces. */
  readonly links: readonly string[];
  /** Objects in the cluster. */
  readonly objects: readonly RecordedObject[];
  /** The API server that has the objects; empty: none yet. */
  readonly server: string;
  /** Identifies the cluster that has the objects (cluster-id.ts); empty: none yet. */
  readonly cluster: string;
}

export interface RecordedFile {
  readonly path: string;
  /**
   * SHA-256 of each content that Fairlead wrote or was about to write: a file with another content
   * was changed by another program or person. Empty: not compared, because Fairlead rewrites it as it runs.
   */
  readonly sha256: readonly string[];
}

export interface RecordedObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty: not in a namespace. */
  readonly namespace: string;
  readonly name: string;
}

export type RecordAddition = Partial<OutsideRecord>;

/** Paths and names to remove. */
export interface RecordRemoval {
  readonly files?: readonly string[];
  readonly folders?: readonly string[];
  readonly units?: readonly string[];
  readonly links?: readonly string[];
  readonly objects?: readonly RecordedObject[];
}

const VERSION = 1;

export const NOTHING_RECORDED: OutsideRecord = {
  files: [],
  folders: [],
  units: [],
  links: [],
  objects: [],
  server: '',
  cluster: '',
};

/** Empty if nothing was made yet. Throws CommandError when the file cannot be used. */
export async function readRecord(root: string): Promise<OutsideRecord> {
  const path = below(root, RECORD_FILE);
  const text = await attempt(`cannot read ${path}`, () => textOf(path));
  if (text === undefined) return NOTHING_RECORDED;
  const value = parseJson(text)?.value;
  if (!isRecord(value) || typeof value['version'] !== 'number') {
    throw new CommandError(`${path} is not a record of fairlead outside`, {
      code: 'OUTSIDE_RECORD_INVALID',
      next: 'restore it from a backup, or delete it; what it listed must then be removed manually (docs/outside.md lists the files)',
    });
  }
  if (value['version'] === VERSION) return recordFrom(value);
  throw new CommandError(
    `${path} has version ${value['version']}; this fairlead knows ${VERSION}`,
    {
      code: 'OUTSIDE_RECORD_VERSION',
      next: 'use the version of fairlead that wrote it, or a newer one',
    },
  );
}

/** Call it before the thing is made. What is listed already stays; a file gets one more content. */
export async function addToRecord(root: string, more: RecordAddition): Promise<void> {
  const before = await readRecord(root);
  await writeRecord(root, {
    files: mergedFiles([...before.files, ...(more.files ?? [])]),
    folders: distinct([...before.folders, ...(more.folders ?? [])]),
    units: distinct([...before.units, ...(more.units ?? [])]),
    links: distinct([...before.links, ...(more.links ?? [])]),
    objects: distinctObjects([...before.objects, ...(more.objects ?? [])]),
    server: more.server ?? before.server,
    cluster: more.cluster ?? before.cluster,
  });
}

/** Call it after the thing is gone. */
export async function dropFromRecord(root: string, gone: RecordRemoval): Promise<void> {
  const before = await readRecord(root);
  const goneObjects = new Set((gone.objects ?? []).map(objectKey));
  await writeRecord(root, {
    files: before.files.filter(({ path }) => !gone.files?.includes(path)),
    folders: before.folders.filter((path) => !gone.folders?.includes(path)),
    units: before.units.filter((name) => !gone.units?.includes(name)),
    links: before.links.filter((name) => !gone.links?.includes(name)),
    objects: before.objects.filter((object) => !goneObjects.has(objectKey(object))),
    server: before.server,
    cluster: before.cluster,
  });
}

/** Deletes the record itself. */
export async function dropRecord(root: string): Promise<void> {
  const path = below(root, RECORD_FILE);
  await attempt(`cannot delete ${path}`, () => rm(path, { force: true }));
}

/** The entry of a file that is about to be written. */
export function fileEntry(path: string, text: string): RecordedFile {
  return { path, sha256: [sha256Of(text)] };
}

export type FileState = 'missing' | 'ours' | 'changed';

/** Whether a file still is as Fairlead wrote it. */
export async function fileState(root: string, { path, sha256 }: RecordedFile): Promise<FileState> {
  const text = await textOf(below(root, path));
  if (text === undefined) return 'missing';
  return sha256.length === 0 || sha256.includes(sha256Of(text)) ? 'ours' : 'changed';
}

async function writeRecord(root: string, record: OutsideRecord): Promise<void> {
  const path = below(root, RECORD_FILE);
  const text = `${JSON.stringify({ version: VERSION, ...record }, null, 2)}\n`;
  await attempt(`cannot write ${path}`, async () => {
    await makeFolder(dirname(path), SECRET_FOLDER_MODE);
    await writeAtomically(path, { text, mode: SECRET_FILE_MODE });
  });
}

async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
  return await orCommandError({ what, code: 'OUTSIDE_RECORD_UNREADABLE' }, work);
}

function recordFrom(value: JsonRecord): OutsideRecord {
  return {
    files: arrayAt(value, 'files').filter(isRecord).map(fileFrom),
    folders: textsAt(value, 'folders'),
    units: textsAt(value, 'units'),
    links: textsAt(value, 'links'),
    objects: arrayAt(value, 'objects').filter(isRecord).map(objectFrom),
    server: textAt(value, 'server'),
    cluster: textAt(value, 'cluster'),
  };
}

function fileFrom(value: JsonRecord): RecordedFile {
  return { path: textAt(value, 'path'), sha256: textsAt(value, 'sha256') };
}

function objectFrom(value: JsonRecord): RecordedObject {
  return {
    apiVersion: textAt(value, 'apiVersion'),
    kind: textAt(value, 'kind'),
    namespace: textAt(value, 'namespace'),
    name: textAt(value, 'name'),
  };
}

function textsAt(parent: JsonRecord, name: string): readonly string[] {
  return arrayAt(parent, name).filter((item) => typeof item === 'string');
}

function mergedFiles(files: readonly RecordedFile[]): readonly RecordedFile[] {
  const byPath = new Map<string, readonly string[]>();
  for (const { path, sha256 } of files) {
    byPath.set(path, distinct([...(byPath.get(path) ?? []), ...sha256]));
  }
  return [...byPath].map(([path, sha256]) => ({ path, sha256 }));
}

function distinctObjects(objects: readonly RecordedObject[]): readonly RecordedObject[] {
  return [...new Map(objects.map((object) => [objectKey(object), object])).values()];
}

export function objectKey({ apiVersion, kind, namespace, name }: RecordedObject): string {
  return [apiVersion, kind, namespace, name].join(' ');
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
