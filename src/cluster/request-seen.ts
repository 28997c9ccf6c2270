export type RequestMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** One request to the API server, for metrics. */
export interface RequestSeen {
  readonly method: RequestMethod;
  /** Host of the API server, with its port if it is not the default. */
  readonly host: string;
  /** Undefined: no response. */
  readonly status: number | undefined;
  /** Until the response started: a watch has no end. */
  readonly durationMs: number;
  readonly requestBytes: number;
  /** Undefined: no Content-Length, as for a watch. */
  readonly responseBytes: number | undefined;
  /** The status of the first attempt, if this is a retry. */
  readonly retryOf?: number;
}

export type RequestListener = (seen: RequestSeen) => void;
