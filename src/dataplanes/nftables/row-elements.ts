import type { Binary } from '../../linux/nftables/userdata.ts';
import { ROW_SETS, type RowSet, SHARED_SETS, type SharedSet } from './nftables-sets.ts';

/** One element that a row needs in the kernel. */
export interface RowElement {
  readonly set: RowSet;
  readonly key: Binary;
  readonly value?: Binary;
  readonly comment?: string;
}

/** One that other rows may need as well. */
export interface SharedElement {
  readonly set: SharedSet;
  readonly key: Binary;
}

/** The sets whose elements are derived from rows. */
export type ManagedSet = RowSet | SharedSet;

export const MANAGED_SETS: readonly ManagedSet[] = [...ROW_SETS, ...SHARED_SETS];

/** Where an element is. */
export interface Place {
  readonly key: Binary;
}

/** What the kernel has under a key. */
export interface Held {
  /** Undefined for a set, which has no values. */
  readonly value?: Binary;
}
