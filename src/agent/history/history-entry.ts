import type { Writer } from '../../cluster/stamp.ts';

/** Some of many: the first, and how many there are in all. */
export interface Names {
  readonly first: readonly string[];
  readonly count: number;
}

/** State of an endpoint, as its slice has it. */
export type EndpointState =
  | 'ready'
  | 'not ready'
  | 'terminating'
  | 'terminating, serving'
  | 'terminating, ready';

/** Endpoints that changed alike. */
export interface EndpointMove {
  /** Undefined: they joined. */
  readonly from?: EndpointState;
  /** Undefined: they left. Equal to `from`: another field changed, such as a hint. */
  readonly to?: EndpointState;
  readonly endpoints: Names;
}

export interface FieldChange {
  /** As the API names it, such as `spec.ports`. */
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/** Who wrote the object, as the API server recorded it. */
interface Written {
  /** Empty: not known. */
  readonly resourceVersion: string;
  readonly writers: readonly Writer[];
}

/** What happened. */
export type Happening =
  | {
      readonly kind: 'started';
      readonly mode: string;
      readonly version: string;
      /** Entries of the run before are above it. Absent: the history begins with it. */
      readonly continues?: boolean;
    }
  | ({
      readonly kind: 'service';
      readonly change: 'created' | 'changed' | 'deleted';
      /** Of a change; empty: no field that this node uses. */
      readonly fields: readonly FieldChange[];
    } & Written)
  | ({
      readonly kind: 'endpoints';
      /** Name of the EndpointSlice. */
      readonly slice: string;
      readonly change: 'created' | 'changed' | 'deleted';
      readonly moves: readonly EndpointMove[];
      readonly fields: readonly FieldChange[];
      /** Set where the slice is too large to compare: its endpoints before and after. */
      readonly uncompared?: { readonly before: number; readonly after: number };
    } & Written)
  | ({
      readonly kind: 'node';
      readonly change: 'created' | 'changed' | 'deleted';
      readonly fields: readonly FieldChange[];
    } & Written)
  /** Conntrack entries were deleted. */
  | {
      readonly kind: 'flows';
      readonly reason: string;
      readonly count: number;
      readonly endpoints: Names;
    }
  | {
      readonly kind: 'drift';
      readonly what: string;
      readonly isOwn: boolean;
      readonly by?: { readonly pid: number; readonly program: string };
    }
  /** An inspection found the kernel to differ, and corrected it. */
  | {
      readonly kind: 'repaired';
      readonly reason: string;
      readonly wrongRows: number;
      readonly differences: Names;
      readonly services: readonly string[];
    }
  | {
      readonly kind: 'rejected';
      readonly rows: number;
      readonly code: string;
      readonly message: string;
      /** Every write fails, not only these rows. */
      readonly isAll: boolean;
    }
  | { readonly kind: 'node settings'; readonly fields: readonly string[] }
  | {
      readonly kind: 'configuration';
      readonly field: string;
      readonly before: string;
      readonly after: string;
      readonly inForce: 'now' | 'after a restart';
    }
  | { readonly kind: 'condition'; readonly name: string; readonly isTrue: boolean }
  | { readonly kind: 'first sync' };

/**
 * `unneeded`: no row of this node changes by it, or it was undone before it was written. `unknown`:
 * the agent ended before.
 */
export type Settled = 'kernel' | 'unneeded' | 'unknown';

/** One entry of the history. Times are on the monotonic clock. */
export interface HistoryEntry {
  /** Rises by one with every entry: the order, whatever the clocks say. */
  readonly seq: number;
  /** `namespace/name`; empty: it concerns the whole node. */
  service: string;
  readonly atMs: number;
  readonly kind: Happening['kind'];
  /** The happening as `pack` writes it. */
  text: string;
  /** Undefined: not in the kernel yet, or the kernel has no part in it. */
  settled: Settled | undefined;
  /** Of those that are counted in it, the longest. */
  settledAfterMs: number | undefined;
  /** It happened again; undefined: it did not. */
  again: { readonly count: number; readonly lastAtMs: number } | undefined;
  /** Bytes of memory, about. */
  weight: number;
}

/** What is kept of an entry for the next run of the agent. */
export type SavedEntry = Pick<
  HistoryEntry,
  'service' | 'atMs' | 'kind' | 'text' | 'settled' | 'settledAfterMs' | 'again'
>;

/** Whether an entry is about something that must reach the kernel. */
export function awaitsKernel({ kind }: Pick<HistoryEntry, 'kind'>): boolean {
  return kind === 'service' || kind === 'endpoints';
}
