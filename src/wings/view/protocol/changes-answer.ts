export interface Change {
  /** The order; dates may contradict it where the clock was set. */
  readonly seq: number;
  /** `namespace/name`; empty: it concerns the whole node. */
  readonly service: string;
  readonly atMs: number;
  readonly kind:
    | 'started'
    | 'service'
    | 'endpoints'
    | 'node'
    | 'flows'
    | 'drift'
    | 'repaired'
    | 'rejected'
    | 'node settings'
    | 'configuration'
    | 'condition'
    | 'first sync';
  /** `bad`: something is wrong since. `good`: it is right again. */
  readonly tone: 'bad' | 'good' | 'usual';
  /** One sentence without its subject's name, at most 600 characters. */
  readonly sentence: string;
  /** `waiting`: not in the kernel yet. Absent: the kernel has no part in it. */
  readonly kernel?: 'kernel' | 'unneeded' | 'unknown' | 'waiting';
  readonly settledAfterMs?: number;
  /** Who wrote the object, as the API server recorded it, or the program that changed the kernel. */
  readonly by?: string;
  /** Name of the EndpointSlice. */
  readonly slice?: string;
  readonly resourceVersion?: string;
  /** It happened again. */
  readonly again?: { readonly count: number; readonly lastAtMs: number };
}

export interface ChangesAnswer {
  /** Of this run of the agent: another one counts from the beginning. */
  readonly run: string;
  /** Newest first, at most 100. */
  readonly changes: readonly Change[];
  /** For `before` of the next page; absent: there are no older ones. */
  readonly next?: number;
  readonly begunAtMs: number;
  /** Everything since then is here. */
  readonly completeSinceMs: number;
  /** Entries that had to make room. */
  readonly droppedCount: number;
}
