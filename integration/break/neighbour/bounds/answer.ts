/** What the victim saw while a bound was full. */
export interface VictimAnswer {
  readonly made: number;
  /** Not those that failed while a connection past the proxy did not get through either. */
  readonly failed: number;
  readonly stalled: number;
  /** Of connections past the proxy: what the machine takes by itself. */
  readonly slowestDirectMs: number;
  /** The first failure, in words. */
  readonly example?: string;
  /** Connections that were opened before. */
  readonly open: number;
  readonly lost: number;
  /** The first of the reasons. */
  readonly lostBy?: string;
  /** Clients with affinity who had an endpoint before. */
  readonly sticky: number;
  readonly strayed: number;
  readonly strayedExample?: string;
  readonly healthAsked: number;
  readonly healthBad: number;
  readonly healthExample?: string;
  readonly slowestHealthMs: number;
  readonly status: CommandAnswer;
  readonly diff: CommandAnswer;
}

export interface CommandAnswer {
  readonly tookMs: number;
  /** Undefined: none before its deadline. */
  readonly exitCode: number | undefined;
  readonly text: string;
}

export interface BoundResult {
  readonly name: string;
  readonly limit: string;
  readonly filledTo: string;
  readonly fillSeconds: number;
  readonly notFull?: string;
  /** Whether status named it; undefined: it promises nothing. */
  readonly isTold?: boolean;
  readonly movesAffinity?: true;
  /** Undefined: the room could not be filled. */
  readonly victim?: VictimAnswer;
  /** Until the kernel had nothing of the tenant. Infinity: never. */
  readonly emptiedSeconds: number;
  readonly error?: string;
}

export interface BoundsResult {
  readonly proxy: string;
  readonly seconds: number;
  readonly bounds: readonly BoundResult[];
}
