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
