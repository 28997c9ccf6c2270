import type { MetricSet } from '../metrics.ts';

export interface ConntrackFill {
  readonly entries: number;
  /** 0: the kernel has no limit. */
  readonly limit: number;
}

/** How full the connection tracking table is: when it is, the kernel drops new connections. */
export class ConntrackMetrics {
  readonly #set: MetricSet;
  readonly #read: () => ConntrackFill | undefined;
  #metrics: ReturnType<typeof define> | undefined;

  /** `read` returns undefined while the kernel has no such table: then there are no series. */
  constructor(set: MetricSet, read: () => ConntrackFill | undefined) {
    this.#set = set;
    this.#read = read;
  }

  take(): void {
    const fill = this.#read();
    if (fill === undefined) return;
    this.#metrics ??= define(this.#set);
    this.#metrics.entries.set(fill.entries);
    this.#metrics.limit.set(fill.limit);
  }
}

function define(set: MetricSet) {
  return {
    entries: set.gauge({
      name: 'fairlead_conntrack_entries',
      help: 'Entries of the connection tracking table in this network namespace',
    }),
    limit: set.gauge({
      name: 'fairlead_conntrack_entries_limit',
      help: 'Entries that the connection tracking table may have; 0 if there is no limit',
    }),
  };
}
