/** One request to the API server, for whoever counts them. */
export interface RequestSeen {
  readonly method: 'GET' | 'POST';
  /** Of the API server, with its port where that is not the usual one. */
  readonly host: string;
  /** Undefined: there was no answer. */
  readonly status: number | undefined;
  /** Until the server began to answer: a watch has no end. */
  readonly durationMs: number;
  readonly requestBytes: number;
  /** Undefined: the server did not say, as for a watch. */
  readonly responseBytes: number | undefined;
  /** It was sent before and got this status. */
  readonly retryOf?: number;
}

export type RequestListener = (seen: RequestSeen) => void;
