import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemCodeOf } from '../../agent/servers/server-error.ts';
import { CommandError } from '../../commands/command-error.ts';
import { admit, type Guard, type Incoming } from './admission.ts';
import { ConnectionPlaces, type PlaceLimits } from './connection-places.ts';
import type { EventStreams } from './event-streams.ts';
import { problemResponse, SAFE_HEADERS, signedInResponse, type WholeResponse } from './response.ts';
import { problemOf } from './view-problem.ts';
import { answer, type Site, TICKS_PATH } from './view-routes.ts';

export interface ViewServerOptions {
  /** 0: any free one. */
  readonly port: number;
  readonly token: string;
  readonly site: Site;
  readonly streams: EventStreams;
  /** A page follows the ticks from now on; resolves to the event that it gets first. */
  readonly onFollow: () => Promise<FirstEvent>;
  readonly onProblem: (error: unknown) => void;
  /** Undefined: those of a browser. */
  readonly places?: Partial<PlaceLimits>;
}

export interface FirstEvent {
  readonly event: 'hello' | 'trouble';
  readonly json: string;
}

const LOOPBACK = '127.0.0.1';
const OK = 200;
const PLACES: PlaceLimits = {
  waiting: 256,
  // A browser opens six for one page, and one for each stream.
  admitted: 64,
  firstRequestMs: 3_000,
};
/** All that the kernel has for one iteration of the event loop find a place. */
const BACKLOG = 128;
const LIMITS = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
} as const;

/** Listens on loopback until the signal aborts. Throws CommandError. */
export async function openViewServer(
  options: ViewServerOptions,
  signal: AbortSignal,
): Promise<{ readonly port: number; readonly closed: Promise<void> }> {
  const server = http.createServer(LIMITS);
  const places = new ConnectionPlaces({ ...PLACES, ...options.places });
  server.on('connection', (socket) => places.add(socket));
  try {
    const listening = once(server, 'listening', { signal });
    server.listen({ host: LOOPBACK, port: options.port, backlog: BACKLOG, exclusive: true });
    await listening;
  } catch (error) {
    throw cannotListen(options.port, error);
  }
  const { port } = server.address() as AddressInfo;
  const guard = { token: options.token, port };
  server.on('request', (request, response) => {
    respond({ request, response, guard, places }, options).catch(options.onProblem);
  });
  const closed = once(server, 'close').then(() => undefined);
  const end = (): void => {
    server.close();
    server.closeAllConnections();
  };
  signal.addEventListener('abort', end, { once: true });
  return { port, closed };
}

function cannotListen(port: number, cause: unknown): CommandError {
  const code = systemCodeOf(cause) ?? 'unknown reason';
  return new CommandError(`cannot listen on ${LOOPBACK}:${port}: ${code}`, {
    code: 'VIEW_PORT',
    next: 'give another --port, or leave it out for any free one',
    cause,
  });
}

interface Exchange {
  readonly request: http.IncomingMessage;
  readonly response: http.ServerResponse;
  readonly guard: Guard;
  readonly places: ConnectionPlaces;
}

async function respond(exchange: Exchange, options: ViewServerOptions): Promise<void> {
  const { request, response, guard, places } = exchange;
  try {
    const admitted = admit(incomingOf(request), guard);
    places.admit(request.socket);
    if (admitted.is === 'signed in') return send(exchange, signedInResponse(admitted.cookie));
    const { path, query } = admitted;
    if (path === TICKS_PATH && request.method === 'GET') return await follow(exchange, options);
    send(exchange, await answer(options.site, path, query));
  } catch (error) {
    const { status, problem } = problemOf(error);
    if (problem.code === 'INTERNAL') options.onProblem(error);
    if (response.headersSent) response.destroy();
    else send(exchange, problemResponse(status, problem));
  }
}

/** Events until the page closes the connection. */
async function follow({ response }: Exchange, options: ViewServerOptions): Promise<void> {
  const { streams } = options;
  streams.assertRoom();
  streams.add(response);
  const { event, json } = await options.onFollow();
  if (response.destroyed) return;
  response.writeHead(OK, { ...SAFE_HEADERS, 'Content-Type': 'text/event-stream; charset=utf-8' });
  streams.begin(response, event, json);
}

function send({ request, response, places }: Exchange, whole: WholeResponse): void {
  // A request with a body is rejected before it is read.
  const stays = request.complete && places.isAdmitted(request.socket);
  const ends = stays ? {} : { Connection: 'close' };
  response.writeHead(whole.status, {
    ...SAFE_HEADERS,
    ...whole.headers,
    ...ends,
    'Content-Type': whole.type,
    'Content-Length': Buffer.byteLength(whole.body),
  });
  response.end(request.method === 'HEAD' ? undefined : whole.body);
}

function incomingOf({ method = '', url = '', headers }: http.IncomingMessage): Incoming {
  const site = headers['sec-fetch-site'];
  return {
    method,
    target: url,
    host: headers.host,
    cookie: headers.cookie,
    authorization: headers.authorization,
    fetchSite: typeof site === 'string' ? site : undefined,
  };
}
