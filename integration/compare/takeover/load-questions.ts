/** What one process of a load does; it runs in the network of its way. */
export interface LoadPlan {
  readonly way: LoadWay;
  readonly connectionsPerSecond: number;
}

export interface LoadWay {
  /** For example `pod to cluster IP`. */
  readonly name: string;
  readonly namespace: string;
  readonly sourceAddress: string;
  readonly address: string;
  readonly port: number;
}

/** A connection that failed, or that took long: because a packet was lost, or the machine is busy. */
export interface OddConnection {
  readonly way: string;
  readonly sourcePort: number;
  /** On the monotonic clock, which all processes share. */
  readonly begunMs: number;
  readonly tookMs: number;
  /** Undefined: it was answered, late. */
  readonly error?: string;
}

/** What became of all connections that were begun since the last tally. */
export interface LoadTally {
  readonly made: number;
  /** Without an answer in time. */
  readonly failed: number;
  /** Failed ones that were rejected. */
  readonly refusedOrReset: number;
  /** The longest stall of the load process itself, which is not due to the proxy. */
  readonly longestPauseMs: number;
  /** A few of the failed and the late ones. */
  readonly odd: readonly OddConnection[];
  readonly stream: StreamTally;
}

/** A connection that is kept open throughout. */
export interface StreamTally {
  readonly answers: number;
  readonly longestSilenceMs: number;
  /** Why it ended; undefined: it is alive. */
  readonly error?: string;
}
