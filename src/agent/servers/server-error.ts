export type ServerErrorCode =
  | 'SERVER_LISTEN'
  | 'SERVER_CLOSED'
  | 'SERVER_HANDLER'
  | 'STATUS_UNREACHABLE'
  | 'STATUS_TIMEOUT'
  | 'STATUS_MALFORMED';

/** A failure of one of the servers, with a code and what to do. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  readonly code: ServerErrorCode;
  readonly next: string;

  constructor(
    code: ServerErrorCode,
    message: string,
    more: { readonly next: string; readonly cause?: unknown },
  ) {
    super(message, { cause: more.cause });
    this.code = code;
    this.next = more.next;
  }
}

export type ServerProblemListener = (problem: ServerError) => void;

/** The code that Node gives its own errors, if this is one. */
export function systemCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Why it cannot listen, with what to do. */
export function listenError(where: string, cause: unknown): ServerError {
  const code = systemCodeOf(cause) ?? 'unknown reason';
  return new ServerError('SERVER_LISTEN', `cannot listen on ${where}: ${code}`, {
    next: nextAfter(code),
    cause,
  });
}

function nextAfter(code: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'another process uses the port: `ss -ltnp` shows which; check whether kube-proxy still runs on this node';
    case 'EADDRNOTAVAIL':
      return 'no interface has this address (yet): compare with `ip address`';
    case 'EACCES':
      return 'run as root, or with permission to use this port or folder';
    default:
      return 'retried automatically; if it persists, check the address in the configuration';
  }
}

export function handlerError(cause: unknown): ServerError {
  return new ServerError('SERVER_HANDLER', 'an HTTP request handler failed', {
    next: 'report it as a bug of Fairlead, with the log',
    cause,
  });
}
