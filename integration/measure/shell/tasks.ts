/** What the client is asked to do. */
export type Task =
  | {
      readonly kind: 'requests';
      readonly url: string;
      readonly count: number;
      readonly atOnce: number;
    }
  | {
      readonly kind: 'steady';
      readonly url: string;
      readonly perSecond: number;
      readonly mostSeconds: number;
      /** Written by the client, and read by it. */
      readonly startedFile: string;
      readonly stopFile: string;
    }
  | { readonly kind: 'echo'; readonly host: string; readonly port: number; readonly bytes: number }
  | {
      readonly kind: 'unread';
      readonly url: string;
      readonly host: string;
      readonly port: number;
      readonly count: number;
    };

export interface Waits {
  readonly tried: number;
  readonly failed: number;
  /** Why, the first of them. */
  readonly failures: readonly string[];
  /** Answered ones. */
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

export interface EchoResult {
  readonly isEqual: boolean;
  readonly megabytesPerSecond: number;
}

export interface UnreadResult {
  readonly before: Waits;
  readonly beside: Waits;
  /** The connection was there all the time, with bytes in it. */
  readonly isOpen: boolean;
}
