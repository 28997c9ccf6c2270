import type { JsonRecord } from '../../cluster/json.ts';
import { recordAt, textAt } from '../../cluster/json.ts';
import type { RestClient } from '../../cluster/rest.ts';
import { CommandError } from '../command-error.ts';
import {
  addToRecord,
  dropFromRecord,
  objectKey,
  type RecordedObject,
  readRecord,
} from './record.ts';
import { identityOf, type Manifest, pathOf } from './rights.ts';

export type Done = 'created' | 'changed' | 'unchanged' | 'deleted';

export interface DoneObject {
  readonly object: RecordedObject;
  readonly done: Done;
  /** It was there, and the record did not list it: perhaps that of another machine. */
  readonly isFound?: true;
}

export interface ApplyOptions {
  readonly client: RestClient;
  readonly root: string;
  /** The API server that has the objects. */
  readonly server: string;
}

/** Throws what `applyObjects` would throw for a user who may not do it, and changes nothing. */
export async function assertApplicable(
  manifests: readonly Manifest[],
  client: RestClient,
): Promise<void> {
  for (const manifest of manifests) {
    await client.tryApply(pathOrThrow(identityOf(manifest)), manifest);
  }
}

/** Creates or updates the objects, and deletes those of an earlier call that are not wanted now. */
export async function applyObjects(
  manifests: readonly Manifest[],
  { client, root, server }: ApplyOptions,
): Promise<readonly DoneObject[]> {
  const before = await readRecord(root);
  const known = new Set(before.objects.map(objectKey));
  const wanted = manifests.map(identityOf);
  await addToRecord(root, { objects: wanted, server });
  const applied: DoneObject[] = [];
  for (const manifest of manifests) {
    const object = identityOf(manifest);
    const done = await applyOne(client, { manifest, path: pathOrThrow(object) });
    const isFound = done !== 'created' && !known.has(objectKey(object));
    applied.push({ object, done, ...(isFound ? { isFound } : {}) });
  }
  const keys = new Set(wanted.map(objectKey));
  const surplus = before.objects.filter((object) => !keys.has(objectKey(object)));
  return [...applied, ...(await deleteObjects(surplus, { client, root }))];
}

/** Bindings first, so that a role is never bound when it is half gone. */
export async function deleteObjects(
  objects: readonly RecordedObject[],
  { client, root }: Pick<ApplyOptions, 'client' | 'root'>,
): Promise<readonly DoneObject[]> {
  const deleted: DoneObject[] = [];
  for (const object of objects.toReversed()) {
    const existed = await client.delete(pathOrThrow(object));
    await dropFromRecord(root, { objects: [object] });
    if (existed) deleted.push({ object, done: 'deleted' });
  }
  return deleted;
}

async function applyOne(
  client: RestClient,
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
