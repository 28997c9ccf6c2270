import type { JsonRecord } from '../../cluster/json.ts';
import { recordAt, textAt } from '../../cluster/json.ts';
import type { RestClient } from '../../cluster/rest-client.ts';
import { CommandError } from '../../commands/command-error.ts';
import { identityOf, type Manifest, OUTSIDE_LABELS, pathOf } from './machine-rights.ts';
import {
  addToRecord,
  dropFromRecord,
  objectKey,
  type RecordedObject,
  readRecord,
} from './record.ts';

export type Done = 'created' | 'changed' | 'unchanged' | 'deleted';

export interface DoneObject {
  readonly object: RecordedObject;
  readonly done: Done;
  /** It was there, and the record did not list it: perhaps that of another machine. */
  readonly isFound?: true;
}

export type ObjectClient = Pick<RestClient, 'get' | 'apply' | 'tryApply' | 'delete'>;

export interface ApplyOptions {
  readonly client: ObjectClient;
  readonly root: string;
  /** The API server that has the objects. */
  readonly server: string;
  /** Of `clusterId`. */
  readonly cluster: string;
}

/**
 * Throws what `applyObjects` would throw for a user who may not do it, or if an object of that name
 * does not have the labels of Fairlead; changes nothing.
 */
export async function assertApplicable(
  manifests: readonly Manifest[],
  client: ObjectClient,
): Promise<void> {
  for (const manifest of manifests) {
    const object = identityOf(manifest);
    const found = await client.get(pathOrThrow(object));
    if (found !== undefined && !isOurs(found)) throw foreign(object);
    await client.tryApply(pathOrThrow(object), manifest);
  }
}

/** Whether `fairlead outside` made it, on this machine or on another one. */
function isOurs(object: JsonRecord): boolean {
  const labels = recordAt(recordAt(object, 'metadata'), 'labels');
  return Object.entries(OUTSIDE_LABELS).every(([name, value]) => labels[name] === value);
}

function foreign(object: RecordedObject): CommandError {
  return new CommandError(`${objectText(object)} exists, and was not made by fairlead outside`, {
    code: 'OBJECT_NOT_OURS',
    next: 'choose another --name; nothing was changed',
  });
}

/**
 * Creates or updates the objects, and deletes those of an earlier call that are not wanted now. Those
 * of an earlier call in another cluster are forgotten.
 */
export async function applyObjects(
  manifests: readonly Manifest[],
  { client, root, server, cluster }: ApplyOptions,
): Promise<readonly DoneObject[]> {
  const recorded = await readRecord(root);
  const before = recorded.cluster === cluster ? recorded.objects : [];
  if (recorded.cluster !== cluster) await dropFromRecord(root, { objects: recorded.objects });
  const known = new Set(before.map(objectKey));
  const wanted = manifests.map(identityOf);
  await addToRecord(root, { objects: wanted, server, cluster });
  const applied: DoneObject[] = [];
  for (const manifest of manifests) {
    const object = identityOf(manifest);
    const done = await applyOne(client, { manifest, path: pathOrThrow(object) });
    const isFound = done !== 'created' && !known.has(objectKey(object));
    applied.push({ object, done, ...(isFound ? { isFound } : {}) });
  }
  const keys = new Set(wanted.map(objectKey));
  const surplus = before.filter((object) => !keys.has(objectKey(object)));
  return [...applied, ...(await deleteObjects(surplus, { client, root }))];
}

/**
 * Bindings first, so that a role is never bound when it is half gone. One that another user or program has made
 * since in the place of ours is left alone.
 */
export async function deleteObjects(
  objects: readonly RecordedObject[],
  { client, root }: Pick<ApplyOptions, 'client' | 'root'>,
): Promise<readonly DoneObject[]> {
  const deleted: DoneObject[] = [];
  for (const object of objects.toReversed()) {
    const path = pathOrThrow(object);
    const found = await client.get(path);
    const isDeleted = found !== undefined && isOurs(found) && (await client.delete(path));
    await dropFromRecord(root, { objects: [object] });
    if (isDeleted) deleted.push({ object, done: 'deleted' });
  }
  return deleted;
}

async function applyOne(
  client: ObjectClient,
  { manifest, path }: { readonly manifest: Manifest; readonly path: string },
): Promise<Done> {
  const before = await client.get(path);
  const after = await client.apply(path, manifest);
  if (before === undefined) return 'created';
  return versionOf(before) === versionOf(after) ? 'unchanged' : 'changed';
}

function versionOf(object: JsonRecord): string {
  return textAt(recordAt(object, 'metadata'), 'resourceVersion');
}

function pathOrThrow(object: RecordedObject): string {
  const path = pathOf(object);
  if (path !== undefined) return path;
  throw new CommandError(`the record lists a ${object.kind}, which fairlead does not make`, {
    code: 'OUTSIDE_RECORD_INVALID',
    next: 'use the version of fairlead that wrote the record',
  });
}

export function objectText({ kind, namespace, name }: RecordedObject): string {
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}
