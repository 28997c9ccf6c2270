/**
 * A failure between Fairlead and the cluster: `code` for programs, `message` for readers, and
 * `next` for what to do. Never contains a secret.
 */
export class ClusterError extends Error {
  readonly code: ClusterErrorCode;
  readonly next: string;
  /** The HTTP status, if the server responded. */
  readonly status: number | undefined;
  /** The Retry-After of the server. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ClusterErrorCode, message: string, options: ClusterErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ClusterError';
    this.code = code;
    this.next = options.next;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

export interface ClusterErrorOptions {
  readonly next: string;
  readonly cause?: unknown;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

export type ClusterErrorCode =
  | 'CLUSTER_UNREACHABLE'
  | 'CLUSTER_CONNECTION_LOST'
  | 'CLUSTER_TIMEOUT'
  | 'CLUSTER_STALLED'
  | 'CLUSTER_TLS'
  | 'CLUSTER_NO_HTTP2'
  | 'CLUSTER_NO_WEBSOCKET'
  | 'CLUSTER_PROXY'
  | 'CLUSTER_ANSWER'
  | 'CLUSTER_GONE'
  | 'CLUSTER_MALFORMED'
  | 'POD_UNREACHABLE'
  | 'POD_ADDRESS_DISPUTED'
  | 'CREDENTIALS_UNREADABLE'
  | 'CREDENTIALS_PLUGIN'
  | 'KUBECONFIG_UNREADABLE'
  | 'KUBECONFIG_INVALID'
  | 'KUBECONFIG_UNSUPPORTED'
  | 'IN_CLUSTER_MISSING'
  | 'MANIFEST_UNREADABLE'
  | 'MANIFEST_BROKEN'
  /** The last one is used. */
  | 'MANIFEST_REPEATED';

/** The code that Node gives its own errors, if this is one. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** One line: the message, followed by those of its causes. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message === '' ? (systemCode(error) ?? error.name) : error.message;
  return error.cause instanceof Error ? `${own}: ${describeError(error.cause)}` : own;
}
