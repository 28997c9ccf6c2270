import type { Change } from './changes-answer.ts';
import type { DotChanges } from './dots-answer.ts';
import type { NodeAbout, Trouble } from './node-hello.ts';
import type { TrafficMap } from './traffic-tick.ts';

/** The first event of a stream. */
export interface Hello {
  readonly about: NodeAbout;
  /** What the last minutes were, oldest first, one point for each tick, at most 120; empty: nobody watched. */
  readonly past: readonly PastPoint[];
  /** The newest changes, newest first, at most 20. */
  readonly changes: readonly Change[];
}

export interface PastPoint {
  readonly atMs: number;
  readonly newPerSecond?: number;
  readonly rejectedPerSecond?: number;
  readonly droppedPerSecond?: number;
  /** Median time from a change to the kernel, in milliseconds. */
  readonly p50Ms?: number;
}

/** One tick: at most 20,000 bytes of JSON. */
export interface ViewTick {
  /** Counts from 1 in each run of the command. */
  readonly tick: number;
  readonly atMs: number;
  /** Since the tick before. */
  readonly seconds: number;
  readonly totals: TickTotals;
  readonly rows: RowsNow;
  /** Absent: no change since the start of the agent. */
  readonly propagation?: Propagation;
  /** Absent: it cannot be read. */
  readonly conntrack?: ConntrackNow;
  readonly map: TrafficMap;
  readonly dots: DotChanges;
  /** Entries that are new or settled since the tick before, newest first, at most 20. */
  readonly changes: readonly Change[];
  /** Entries that had no room in this tick: `/data/changes` has them. */
  readonly changesLeftOut: number;
  readonly isReady: boolean;
  readonly troubles: readonly Trouble[];
  readonly ages: Ages;
  /** What is missing, in sentences. */
  readonly notes: readonly string[];
}

/** Sums over the service ports that were measured in this tick. */
export interface TickTotals {
  readonly newPerSecond?: number;
  readonly live?: number;
  /** Packets without an endpoint that were answered by a reset or an ICMP error. */
  readonly rejectedPerSecond?: number;
  /** Packets without an endpoint on this node, which got no answer. */
  readonly droppedPerSecond?: number;
  readonly busyPorts: number;
  readonly measuredPorts: number;
  readonly knownPorts: number;
}

/** Rows (service ports) of this node. */
export interface RowsNow {
  readonly desired: number;
  readonly applied: number;
  readonly pending: number;
  /** Rows that the kernel rejected. */
  readonly failing: number;
  readonly services?: number;
  readonly endpoints?: number;
}

/** From our receipt of a change to the acknowledgement of the kernel, over the last thousand. */
export interface Propagation {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface ConntrackNow {
  readonly entries: number;
  readonly max: number;
  /** Since the network namespace exists. Absent: the kernel does not tell. */
  readonly insertFailed?: number;
  readonly earlyDrop?: number;
  readonly dropped?: number;
}

/** How old figures are, in seconds. Absent: never read. */
export interface Ages {
  readonly counters?: number;
  /** The time that rates are taken over. */
  readonly countersOver?: number;
  readonly live?: number;
  readonly refused?: number;
  readonly status?: number;
  /** Shares are taken over so many seconds. */
  readonly sharesOver: number;
  readonly events: 'complete' | 'sampled' | 'none';
}
