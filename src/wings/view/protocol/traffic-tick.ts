import type { FamilyName, ProtocolName } from './common.ts';

/** Who asks → which Service → where it ends. */
export interface TrafficMap {
  /**
   * New connections by source class, from conntrack events, over all Services. A class is absent
   * where conntrack does not see it, and all are where events are sampled.
   */
  readonly sources: SourceRates;
  /** The ten busiest service ports, the busiest first. */
  readonly services: readonly MapService[];
  /** All other service ports that were measured, as one. */
  readonly others: MapFlow & { readonly ports: number };
  /** Where connections end; `ends` of a flow refer to these by `id`. */
  readonly ends: readonly MapEnd[];
}

export interface SourceRates {
  readonly pod?: number;
  readonly host?: number;
  readonly outside?: number;
  /** Clients whose class their address does not tell. */
  readonly unknown?: number;
}

export interface MapFlow {
  readonly newPerSecond?: number;
  readonly rejectedPerSecond?: number;
  readonly droppedPerSecond?: number;
  readonly live?: number;
  /** Rejected and dropped packets are in none of these: they leave no conntrack entry. */
  readonly from?: SourceRates;
  /** Only known parts; absent: not known. */
  readonly ends?: readonly (readonly [end: string, perSecond: number])[];
}

export interface MapService extends MapFlow {
  /** `namespace/name:port`. */
  readonly service: string;
  readonly protocol: ProtocolName;
  readonly family: FamilyName;
  /** Endpoints that were counted. */
  readonly endpoints: number;
}

export interface MapEnd {
  /** `here`, `node:NAME`, `others`, `unplaced`, `rejected`, `dropped`. */
  readonly id: string;
  /**
   * `node`: one of the busiest other nodes. `others`: all other nodes. `unplaced`: endpoints whose
   * slice names no node. The zone of another node is not known to the agent.
   */
  readonly kind: 'here' | 'node' | 'others' | 'unplaced' | 'rejected' | 'dropped';
  /** Of the node. */
  readonly name?: string;
  readonly perSecond?: number;
  /** Endpoints that are counted in it. */
  readonly endpoints?: number;
}
