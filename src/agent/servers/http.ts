import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';
import { ServerError, type ServerProblemListener, systemCodeOf } from './server-error.ts';

/** Everything that is sent back; `Date` and `Content-Length` come by themselves. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Any method will do, as in kube-proxy; the path comes without the query. */
export type Handler = (path: string) => Reply | Promise<Reply>;

/** Where to listen: the same port of one or all addresses, or a unix socket. */
export type Place =
  | { readonly ip: string; readonly port: number; readonly ipv6Only?: boolean }
  | { readonly socketPath: string };

export interface OpenServer {
  /** 0 for a unix socket. */
  readonly port: number;
  /** Resolves when it no longer listens, whoever ended it. */
  readonly closed: Promise<void>;
  /** Gives up the port at once, and all connections with it. */
  close(): void;
}

const OK = 200;
const NOT_FOUND = 404;
const INTERNAL_ERROR = 500;

// These ports are open to everybody who reaches the machine, and the process runs as root: slow
// or numerous clients must not be able to take it all.
const REQUEST_DEADLINE_MS = 10_000;
const IDLE_MS = 10_000;
const MAX_CONNECTIONS = 1024;
const OWNER_ONLY_MASK = 0o177;

/** Rejects with the error of Node when the place cannot be had. */
export async function openHttpServer(
  place: Place,
  handler: Handler,
  onProblem: ServerProblemListener,
): Promise<OpenServer> {
  const server = http.createServer(
    {
      headersTimeout: REQUEST_DEADLINE_MS,
      requestTimeout: REQUEST_DEADLINE_MS,
      keepAliveTimeout: IDLE_MS,
    },
    (request, response) => {
      // A body that is not read would hold the connection.
      request.resume();
      answer(request, response, handler).catch((cause: unknown) => onProblem(handlerError(cause)));
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, place);
  const closed = once(server, 'close').then(() => undefined);
  // An error of a server that listens is followed by its end.
  server.on('error', () => server.close());
  return {
    port: portOf(server),
    closed,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  handler: Handler,
): Promise<void> {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  let reply: Reply;
  try {
    reply = await handler(path);
  } catch (error) {
    send(response, { ...textReply('internal error\n'), status: INTERNAL_ERROR });
    throw error;
  }
  send(response, reply);
}

function send(response: http.ServerResponse, reply: Reply): void {
  const length = String(Buffer.byteLength(reply.body));
  response.writeHead(reply.status, { ...reply.headers, 'Content-Length': length });
  response.end(reply.body);
}

/** As in Go, `0.0.0.0` means every address of both families, unless the kernel has no IPv6. */
async function listen(server: http.Server, place: Place): Promise<void> {
  if ('socketPath' in place) return await listenOn(server, { path: place.socketPath });
  const { ip, port, ipv6Only } = place;
  if (ip !== '0.0.0.0' || ipv6Only !== undefined) {
    return await listenOn(server, { host: ip, port, ipv6Only: ipv6Only ?? false });
  }
  try {
    await listenOn(server, { host: '::', port, ipv6Only: false });
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== 'EAFNOSUPPORT' && code !== 'EADDRNOTAVAIL') throw error;
    await listenOn(server, { host: ip, port });
  }
}

async function listenOn(server: http.Server, options: net.ListenOptions): Promise<void> {
  const listening = once(server, 'listening');
  // A unix socket takes its mode from the mask, and listening makes it before it returns: nobody
  // but us can connect, not even for the moment that a later chmod would leave.
  const mask = options.path === undefined ? undefined : process.umask(OWNER_ONLY_MASK);
  try {
    server.listen({ ...options, exclusive: true });
  } finally {
    if (mask !== undefined) process.umask(mask);
  }
  await listening;
}

function portOf(server: http.Server): number {
  const address = server.address();
  return address === null || typeof address === 'string' ? 0 : address.port;
}

function handlerError(cause: unknown): ServerError {
  return new ServerError('SERVER_HANDLER', 'a request could not be answered', {
    next: 'this is a fault of Fairlead: please report it with the cause',
    cause,
  });
}

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
