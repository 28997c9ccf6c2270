/** Everything that is sent back; `Date` and `Content-Length` come by themselves. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes where many clients may get the same, so that each costs no copy. */
  readonly body: string | Buffer;
}

/** Any method will do, as in kube-proxy; the path comes without the query. */
export type Handler = (path: string) => Reply | Promise<Reply>;

const OK = 200;
const NOT_FOUND = 404;

/** Answers by path, all others with Go's page for what does not exist. */
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
