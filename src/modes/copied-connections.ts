import type { EndpointCount } from '../dataplanes/contract.ts';
import type { ServicePortKey } from '../forwarding/model.ts';

/** One open connection that a process copies, with its four addresses, each `address port`. */
export interface WireConnection {
  readonly row: ServicePortKey;
  readonly client: string;
  readonly frontend: string;
  /** The process's own end towards the endpoint. Empty while it is dialling. */
  readonly source: string;
  readonly endpoint: string;
  readonly state: 'dialling' | 'open' | 'client-ended' | 'endpoint-ended';
  readonly ageMs: number;
  readonly bytesToEndpoint: number;
  readonly bytesToClient: number;
}

/** Connections of a process that copies. */
export interface CopiedConnections {
  /** Where conntrack entries lead that only hand a connection over to the process. */
  readonly addresses: readonly string[];
  /** The first ones, and how many there are. Undefined: there is no process. */
  read(wanted: {
    readonly runFolder: string;
    readonly most: number;
    readonly signal: AbortSignal;
  }): Promise<{ readonly first: readonly WireConnection[]; readonly count: number } | undefined>;
}

/** What a process that copies between client and endpoint counts of an endpoint, exactly. */
export interface StreamCount {
  /** Connections that the endpoint accepted from the process. */
  readonly connections: number;
  readonly open: number;
  readonly bytesToEndpoint: number;
  readonly bytesToClient: number;
  /** Until the endpoint accepted, of all its connections together. */
  readonly connectMicroseconds: number;
  /** Failed attempts; the connection went to another endpoint, or was reset. */
  readonly refused: number;
  readonly timedOut: number;
  /** Milliseconds for which it still gets no connection that another can take; 0: none. */
  readonly avoidedMs: number;
}

export interface CopiedCount extends EndpointCount {
  /** Undefined: the kernel alone forwards, and counts no more than the above. */
  readonly streams?: StreamCount;
}
