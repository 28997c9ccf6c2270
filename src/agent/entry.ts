import {
  FAMILIES,
  type Family,
  type Forwarding,
  type ServicePortId,
  type ServicePortKey,
} from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import type { Failure } from './failure.ts';

/** One row that the kernel has not got as it is desired. */
export interface Entry {
  readonly key: ServicePortKey;
  readonly id: ServicePortId;
  desired: Forwarding | undefined;
  applied: Forwarding | undefined;
  /** False: an inspection found something else than `applied`, and the plane remembers what. */
  isCertain: boolean;
  /** Milliseconds since 1970 since when it differs. */
  readonly sinceMs: number;
  failure?: RowFailure;
}

export interface Refused {
  /** `row`: it failed by itself. `plane`: it was among rows of which none could be written. */
  readonly scope: 'row' | 'plane';
  readonly retryAtMs: number;
  readonly last: Failure;
}

export interface RowFailure extends Refused {
  readonly attempts: number;
  readonly firstAtMs: number;
}

export function isRemoval(entry: Entry): boolean {
  return entry.desired === undefined;
}

export function changeOf({ key, applied, desired }: Entry): Change {
  return { key, before: applied, after: desired };
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
