import { isRecord, recordAt, textAt } from '../json.ts';
import type { Kind, ObjectKey, ObjectOfKind } from '../object-kinds.ts';
import type { Interner } from './interner.ts';
import { keyOf, type Named, type Narrowed, readNamed } from './meta.ts';
import { narrowNamespace, narrowNode, narrowServiceCidr } from './narrow-node.ts';
import { narrowService } from './narrow-service.ts';
import { narrowSlice } from './narrow-slice.ts';

type NarrowOfKind = {
  readonly [K in Kind]: (named: Named, interner: Interner) => ObjectOfKind[K] | undefined;
};

const NARROW: NarrowOfKind = {
  service: narrowService,
  slice: narrowSlice,
  node: narrowNode,
  serviceCidr: narrowServiceCidr,
  namespace: narrowNamespace,
};

/**
 * Narrows an API object to the fields in use, with the defaults of the API. Undefined: not an
 * object of this kind. Never throws.
 */
export function narrow<K extends Kind>(
  kind: K,
  raw: unknown,
  interner: Interner,
): Narrowed<ObjectOfKind[K]> | undefined {
  const named = readNamed(raw, interner);
  if (named === undefined) return undefined;
  const object = NARROW[kind](named, interner);
  if (object === undefined) return undefined;
  return {
    key: keyOf(named),
    resourceVersion: textAt(named.metadata, 'resourceVersion'),
    object,
  };
}

/** The key of an object, even if the rest of it is unusable. */
export function readKey(raw: unknown, interner: Interner): ObjectKey | undefined {
  const named = readNamed(raw, interner);
  return named === undefined ? undefined : keyOf(named);
}

/** Empty when there is none. */
export function readResourceVersion(raw: unknown): string {
  return isRecord(raw) ? textAt(recordAt(raw, 'metadata'), 'resourceVersion') : '';
}
