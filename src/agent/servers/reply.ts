/** A response; `Date` and `Content-Length` are added. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes if many clients get the same body, to avoid copies. */
  readonly body: string | Buffer;
}

/** Any method is accepted, as in kube-proxy; the path has no query. */
export type Handler = (path: string) => Reply | Promise<Reply>;

const OK = 200;
const NOT_FOUND = 404;

/** Responds by path, otherwise with Go's 404 page. */
export function routes(table: ReadonlyMap<string, Handler>): Handler {
  return (path) => {
    const handler = table.get(path);
    return handler === undefined ? notFound() : handler(path);
  };
}

export function textReply(body: string): Reply {
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
  };
  return { status: OK, headers, body };
}

export function jsonReply(status: number, body: string): Reply {
  const headers = { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' };
  return { status, headers, body };
}

function notFound(): Reply {
  return { ...textReply('404 page not found\n'), status: NOT_FOUND };
}
