import {
  FAMILIES,
  type Family,
  type Forwarding,
  type ServicePortId,
  type ServicePortKey,
} from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import type { Failure } from './failure.ts';

/** One row that the kernel has not got as it is desired. All times are on the monotonic clock. */
export interface Entry {
  readonly key: ServicePortKey;
  readonly id: ServicePortId;
  desired: Forwarding | undefined;
  applied: Forwarding | undefined;
  /** False: an inspection found something else than `applied`, and the plane remembers what. */
  isCertain: boolean;
  /** Since when it differs. */
  readonly sinceMs: number;
  /** When it was queued. */
  readonly queuedAtMs: number;
  failure?: RowFailure;
  /** While it is not certain: rows of which something may still be in the kernel. */
  leftovers?: readonly Forwarding[];
  /** It is being written in parts; what is desired meanwhile waits until they are finished. */
  parts?: Parts;
}

/** A change that is too large for one transaction, while it is written. */
export interface Parts {
  /** The one it was begun with: the plane must be called with the same until it is finished. */
  readonly change: Change;
  /** Kernel objects that it may touch altogether. */
  readonly objectCount: number;
  writtenCount: number;
  /** On the monotonic clock. */
  readonly begunAtMs: number;
  /** When the kernel took the last part, on the monotonic clock; first of all, when it was begun. */
  lastAtMs: number;
}

export interface Refused {
  /** `row`: it failed by itself. `plane`: it was among rows of which none could be written. */
  readonly scope: FailureScope;
  readonly retryAtMs: number;
  readonly last: Failure;
}

export type FailureScope = 'row' | 'plane';

export interface RowFailure extends Refused {
  readonly attempts: number;
  readonly firstAtMs: number;
}

export function isRemoval(entry: Entry): boolean {
  return entry.desired === undefined;
}

/** What to ask of the plane next. */
export function changeOf({ key, applied, desired, parts }: Entry): Change {
  return parts?.change ?? { key, before: applied, after: desired };
}

/** `namespace/name`. */
export function serviceOf({ namespace, service }: ServicePortId): string {
  return `${namespace}/${service}`;
}

export function familiesOf(entries: Iterable<Entry>): Family[] {
  const found = new Set<Family>();
  for (const { id } of entries) found.add(id.family);
  return FAMILIES.filter((family) => found.has(family));
}
