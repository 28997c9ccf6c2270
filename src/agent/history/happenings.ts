import type { NodeObject, ServiceObject, SliceObject } from '../../cluster/objects.ts';
import type { Stamp } from '../../cluster/stamp.ts';
import { nodeFieldChanges, serviceFieldChanges, sliceFieldChanges } from './field-changes.ts';
import type { Happening } from './history-entry.ts';
import { MOST_COMPARED, movesBetween } from './slice-moves.ts';

/** What happened to a Service, by its name. */
export interface Told {
  /** `namespace/name`; empty: the whole node. */
  readonly service: string;
  readonly what: Happening;
}

/** A change of an object in words; none where no field of interest changed. */
export function happeningsOf(change: ObjectChange): readonly Told[] {
  switch (change.kind) {
    case 'service':
      return ofService(change);
    case 'slice':
      return ofSlice(change);
    case 'node':
      return ofNode(change);
  }
}

function ofService(change: Extract<ObjectChange, { kind: 'service' }>): readonly Told[] {
  const { key, before, after } = change;
  const fields = before && after ? serviceFieldChanges(before, after) : [];
  const what = {
    kind: 'service',
    change: verbOf(change),
    fields,
    ...written(change.stamp),
  } as const;
  return before === undefined && after === undefined ? [] : [{ service: key, what }];
}

function ofNode(change: Extract<ObjectChange, { kind: 'node' }>): readonly Told[] {
  const { before, after } = change;
  const fields = before && after ? nodeFieldChanges(before, after) : [];
  // A kubelet writes its Node every few minutes.
  if (before && after && fields.length === 0) return [];
  const what = { kind: 'node', change: verbOf(change), fields, ...written(change.stamp) } as const;
  return [{ service: '', what }];
}

/** A slice that was given to another Service leaves one and joins the other. */
function ofSlice(change: Extract<ObjectChange, { kind: 'slice' }>): readonly Told[] {
  const before = served(change.before);
  const after = served(change.after);
  const isMoved = before && after && before.service !== after.service;
  if (!isMoved) return ofOneService({ ...change, before, after });
  return [
    ...ofOneService({ ...change, before, after: undefined }),
    ...ofOneService({ ...change, before: undefined, after }),
  ];
}

function ofOneService(change: Extract<ObjectChange, { kind: 'slice' }>): readonly Told[] {
  const { before, after } = change;
  const owner = after ?? before;
  if (owner === undefined) return [];
  const counts = {
    before: before?.endpoints.length ?? 0,
    after: after?.endpoints.length ?? 0,
  };
  const isCompared = counts.before + counts.after <= MOST_COMPARED;
  const moves = isCompared ? movesBetween(before, after) : [];
  const fields = before && after ? sliceFieldChanges(before, after) : [];
  const isSame = before && after && isCompared && moves.length === 0 && fields.length === 0;
  // For instance only the time of the last change was written to an annotation.
  if (isSame) return [];
  const what: Happening = {
    kind: 'endpoints',
    slice: owner.name,
    change: verbOf(change),
    moves,
    fields,
    ...(isCompared ? {} : { uncompared: counts }),
    ...written(change.stamp),
  };
  return [{ service: `${owner.namespace}/${owner.service}`, what }];
}

/** Undefined: proxies do not serve the slice. */
function served(slice: SliceObject | undefined): SliceObject | undefined {
  if (slice === undefined || slice.headless || slice.service === '') return undefined;
  return slice.addressType === 'FQDN' ? undefined : slice;
}

function verbOf(change: Pick<ObjectChange, 'before' | 'after'>): 'created' | 'changed' | 'deleted' {
  if (change.before === undefined) return 'created';
  return change.after === undefined ? 'deleted' : 'changed';
}

function written(stamp: Stamp | undefined): Stamp {
  return stamp ?? NOT_KNOWN;
}

const NOT_KNOWN: Stamp = Object.freeze({ resourceVersion: '', writers: Object.freeze([]) });

interface ChangeOf<K extends string, T> {
  readonly kind: K;
  /** `namespace/name`; the name of a Node. */
  readonly key: string;
  /** Undefined: it is new to this node. */
  readonly before: T | undefined;
  /** Undefined: it was deleted. */
  readonly after: T | undefined;
  /** Undefined: a new list differs, and no event told of it; or it comes from a manifest. */
  readonly stamp: Stamp | undefined;
}

/** An object of the API as it was and as it is. */
export type ObjectChange =
  | ChangeOf<'service', ServiceObject>
  | ChangeOf<'slice', SliceObject>
  | ChangeOf<'node', NodeObject>;
