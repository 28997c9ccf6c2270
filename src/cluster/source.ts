import type { ClusterError } from './errors.ts';
import type { Kind, ObjectKey, ObjectOfKind } from './kinds.ts';
import type { GapReason, ServerReport } from './server-report.ts';

/** What a source tells, in the order in which it became true. */
export type SourceEvent = {
  readonly [K in Kind]:
    | {
        readonly kind: K;
        readonly type: 'put';
        readonly key: ObjectKey;
        readonly object: ObjectOfKind[K];
      }
    | { readonly kind: K; readonly type: 'delete'; readonly key: ObjectKey }
    /** Everything of this kind that exists has been told; said once, after the first list. */
    | { readonly kind: K; readonly type: 'synced' };
}[Kind];

/** How a source is doing, for status and for people. */
export interface SourceHealth {
  readonly kind: Kind;
  readonly connected: boolean;
  /** When the watch last gave a sign of life, on the monotonic clock; 0: never. */
  readonly lastHeardAtMs: number;
  /** What stands in the way at present; nothing while all is well. */
  readonly lastError?: string;
  /** Why there are no objects of this kind, which Fairlead can do without. */
  readonly absent?: GapReason;
  /** Lines, documents and objects that could not be read and were left out, since the start. */
  readonly skippedCount: number;
}

/** Something of the other side that went wrong and was survived, for logs. */
export type ProblemListener = (problem: ClusterError, kind?: Kind) => void;

/** Where objects come from: the API server, or manifests on disk. */
export interface Source {
  /** Tells events until the signal is aborted; resolves then, and never rejects for a fault of the other side. */
  run(onEvent: (event: SourceEvent) => void, signal: AbortSignal): Promise<void>;
  health(): readonly SourceHealth[];
  /** What is known of the API server, where there is one. */
  server?(): ServerReport;
}
