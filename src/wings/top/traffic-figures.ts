import type { GroupedBy } from '../../commands/groupings.ts';
import type { Family, Protocol, SourceClass } from '../../forwarding/model.ts';

/**
 * What one tick of `fairlead top` knows. A figure that the mode cannot know, or that was not measured
 * in this tick, is absent: none is estimated.
 */
export interface Tick {
  /** Counts from 1. */
  readonly tick: number;
  readonly mode: string;
  readonly by: GroupedBy;
  /** Seconds since the tick before. */
  readonly seconds: number;
  readonly totals: Totals;
  readonly rows: readonly ServiceFigures[] | readonly EndpointRow[] | readonly ClientFigures[];
  /** How many more rows there are. */
  readonly more: number;
  readonly sources: SourceStates;
  /** Which figures are missing, or what limits them, in sentences. */
  readonly notes: readonly string[];
}

/** Sums over the service ports that were measured in this tick. */
export interface Totals extends Rejected {
  readonly newPerSecond?: number;
  readonly live?: number;
  readonly busyServices: number;
  readonly measuredServices: number;
  readonly knownServices: number;
}

interface Rejected {
  readonly rejectedPerSecond?: number;
  readonly droppedPerSecond?: number;
}

export interface ServiceFigures extends Rejected {
  /** `namespace/name:port`. */
  readonly service: string;
  readonly protocol: Protocol;
  readonly family: Family;
  readonly newPerSecond?: number;
  /** Sum of the counters of its endpoints. */
  readonly connections?: number;
  readonly live?: number;
  /** Dropped packets from outside of its source ranges. Absent: it has none. */
  readonly outsideRangesPerSecond?: number;
  /** Packets since the Service lost its last endpoint. */
  readonly rejected?: number;
  readonly dropped?: number;
  readonly endpoints: readonly EndpointFigures[];
}

export interface EndpointFigures {
  readonly endpoint: string;
  /** Its counter: connections since it was written to the kernel. */
  readonly connections: number;
  readonly newPerSecond?: number;
  /** Its part of the connections of the last seconds, from 0 to 1. */
  readonly share?: number;
  readonly live?: number;
}

export interface EndpointRow extends EndpointFigures {
  readonly service: string;
  readonly protocol: Protocol;
  readonly family: Family;
}

export interface ClientFigures {
  readonly client: string;
  readonly class?: SourceClass;
  readonly newPerSecond?: number;
  readonly live?: number;
  /** The Service that it has most connections to. */
  readonly service: string;
  readonly serviceCount: number;
}

/** Where the figures come from, and how old each kind is. */
export interface SourceStates {
  readonly countersAgeSeconds?: number;
  /** Between the last two readings of counters, which rates are taken over. */
  readonly countersSeconds?: number;
  readonly liveAgeSeconds?: number;
  readonly refusedAgeSeconds?: number;
  /** Seconds over which shares are taken. */
  readonly shareSeconds: number;
  /**
   * New flows, from conntrack events. `sampled`: there were more than may be read, so they only rank.
   * `none`: they cannot be read.
   */
  readonly events: 'complete' | 'sampled' | 'none';
  readonly eventCount: number;
  /** Live flows of Services in the last sweep over conntrack. */
  readonly liveFlows?: number;
}
