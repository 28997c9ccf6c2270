import type { ClusterError } from './cluster-error.ts';
import type { Kind, ObjectKey, ObjectOfKind } from './object-kinds.ts';
import type { GapReason, ServerReport } from './server-report.ts';
import type { Stamp } from './stamp.ts';

/** Events of a source, in order. */
export type SourceEvent = {
  readonly [K in Kind]:
    | {
        readonly kind: K;
        readonly type: 'put';
        readonly key: ObjectKey;
        readonly object: ObjectOfKind[K];
        /** Undefined for an object of the initial list, or of a manifest. */
        readonly stamp?: Stamp;
      }
    | {
        readonly kind: K;
        readonly type: 'delete';
        readonly key: ObjectKey;
        /** Undefined: a new list does not have it any more, or it was in a manifest. */
        readonly stamp?: Stamp;
      }
    /** The initial list of this kind is complete; sent once. */
    | { readonly kind: K; readonly type: 'synced' };
}[Kind];

/** Health of a source, for status. */
export interface SourceHealth {
  readonly kind: Kind;
  readonly connected: boolean;
  /** When the watch last received anything, on the monotonic clock; 0: never. */
  readonly lastHeardAtMs: number;
  /** The current error, if any. */
  readonly lastError?: string;
  /** Why this optional kind is not available. */
  readonly absent?: GapReason;
  /** Parts of the scope, such as `namespace shop`, whose objects are missing for lack of rights. */
  readonly forbidden?: readonly string[];
  /** Number of messages, documents and objects that were ignored since the start. */
  readonly skippedCount: number;
}

/** A problem of the server or the files that was handled, for logs. */
export type ProblemListener = (problem: ClusterError, kind?: Kind) => void;

/** A source of objects: an API server, or manifest files. */
export interface Source {
  /**
   * Reports events until the signal is aborted, then resolves. Never rejects for a fault of the
   * server.
   */
  run(onEvent: (event: SourceEvent) => void, signal: AbortSignal): Promise<void>;
  health(): readonly SourceHealth[];
  /** Version and missing features of the API server, if there is one. */
  server?(): ServerReport;
}
