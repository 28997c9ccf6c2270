import type { Applied, RowChange } from '../dataplanes/contract.ts';
import { knownRow } from '../dataplanes/row-change.ts';
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
  applied: Applied;
  /** Since when it differs. */
  readonly sinceMs: number;
  /** When it was queued. */
  readonly queuedAtMs: number;
  failure?: RowFailure;
  /** While `applied` is `unknown`: rows that the kernel may have in part. */
  leftovers?: readonly Forwarding[];
  /** It is being written in parts; a new desired state waits until they are finished. */
  parts?: Parts;
}

/** A change that is too large for one transaction, while it is written. */
export interface Parts {
  /** The plane must be called with this same object until it is finished. */
  readonly change: RowChange;
  /** Total of kernel objects that it may change. */
  readonly objectCount: number;
  writtenCount: number;
  /** On the monotonic clock. */
  readonly begunAtMs: number;
  /** When the kernel took the last part, on the monotonic clock; first of all, when it was begun. */
  lastAtMs: number;
}

export interface Rejected {
  /** `row`: it failed on its own. `plane`: it was among rows of which none could be written. */
  readonly scope: FailureScope;
  readonly retryAtMs: number;
  readonly last: Failure;
}

export type FailureScope = 'row' | 'plane';

export interface RowFailure extends Rejected {
  readonly attempts: number;
  readonly firstAtMs: number;
}

export function isRemoval(entry: Entry): boolean {
  return entry.desired === undefined;
}

/** The next change to apply. */
export function changeOf({ key, id, applied, desired, parts }: Entry): RowChange {
  return parts?.change ?? { key, id, before: applied, after: desired };
}

/**
 * For observers. An `unknown` row is new to them when it is written; when it is removed they get
 * the oldest row that the kernel may have had in part, because they must learn that it is gone.
 */
export function acknowledgedChange(
  { key, before, after }: RowChange,
  { leftovers }: Entry,
): Change {
  const former = after === undefined ? leftovers?.at(-1) : undefined;
  return { key, before: knownRow(before) ?? former, after };
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
