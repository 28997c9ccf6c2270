import type dgram from 'node:dgram';
import type net from 'node:net';
import { canonicalIp } from '../../src/addresses/ip.ts';
import { bindUdp, type ListenPlace, listenSctp, listenTcp } from '../host/sockets.ts';

export interface ServedPort {
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
}

export interface NetexecOptions {
  readonly namespacePath: string;
  /** The only address it listens on; every one of the namespace when not given. */
  readonly address?: string;
  /** What it calls itself; by the address that it was asked at where it has many, over TCP. */
  readonly hostname: string | ((localAddress: string) => string);
  readonly ports: readonly ServedPort[];
  /** Where SCTP is served: associations of each address are that address's alone. */
  readonly ownAddresses?: readonly string[];
  /** What requests of a connection wait for, once; answered at once when not given. */
  readonly beforeAnswers?: (() => Promise<void>) | undefined;
  /** A connection gets its first answer. */
  readonly onConnection?: (() => void) | undefined;
}

type Hostname = NetexecOptions['hostname'];

/**
 * The part of upstream's `agnhost netexec` that tests of a proxy need, for labs with hundreds of
 * pods: the name of the pod (`/hostname`) and the source address of the request (`/clientip`), over
 * HTTP with kept connections, over TCP or SCTP, and as bare words over UDP, and an echo of any size. All pods share this
 * one process.
 */
export async function startNetexec(options: NetexecOptions): Promise<AsyncDisposable> {
  const servers = await Promise.all(
    options.ports.flatMap(({ port, protocol }) => {
      const { namespacePath: namespace, address, ownAddresses = [] } = options;
      const place = { namespace, port, ...(address === undefined ? {} : { address }) };
      if (protocol === 'UDP') return [serveUdp(place, options.hostname)];
      if (protocol === 'TCP') return [serveStreams((take) => listenTcp(place, take), options)];
      return ownAddresses.map((own) =>
        serveStreams((take) => listenSctp({ ...place, address: own }, take), options),
      );
    }),
  );
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

async function serveStreams(
  listen: (onConnection: (socket: net.Socket) => void) => Promise<net.Server>,
  { hostname, beforeAnswers, onConnection }: NetexecOptions,
): Promise<AsyncDisposable> {
  const open = new Set<net.Socket>();
  const server = await listen((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // The peer's resets are the peer's: a proxy under test may cut any connection.
    socket.on('error', () => socket.destroy());
    if (onConnection) socket.once('data', onConnection);
    if (beforeAnswers) void beforeAnswers().then(() => answerRequests(socket, hostname));
    else answerRequests(socket, hostname);
  });
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of open) {
        // A reset fails during a shutdown; Node then never closes the handle and spins at its exit.
        if (socket.writableEnded) socket.destroy();
        else socket.resetAndDestroy();
      }
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function answerRequests(socket: net.Socket, hostname: Hostname): void {
  const client = endpoint(socket.remoteAddress, socket.remotePort);
  const own = nameAt(hostname, socket.localAddress);
  let pending = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    pending += text;
    for (;;) {
      const request = takeRequest(pending);
      if (request === undefined) return;
      pending = request.rest;
      socket.write(response(bodyFor(request, { own, client })));
    }
  });
}

function bodyFor(request: Request, known: { own: string; client: string }): string {
  if (request.head.startsWith('POST /echo')) return request.body;
  return request.head.startsWith('GET /hostname') ? known.own : known.client;
}

function nameAt(hostname: Hostname, localAddress = ''): string {
  if (typeof hostname === 'string') return hostname;
  return hostname(canonicalIp(localAddress) ?? '');
}

interface Request {
  readonly head: string;
  readonly body: string;
  readonly rest: string;
}

const END_OF_HEAD = '\r\n\r\n';

/** The first of the pipelined requests in this text; undefined while it is incomplete. */
export function takeRequest(text: string): Request | undefined {
  const headEnd = text.indexOf(END_OF_HEAD);
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const bodyAt = headEnd + END_OF_HEAD.length;
  const bodyEnd = bodyAt + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (text.length < bodyEnd) return undefined;
  return { head, body: text.slice(bodyAt, bodyEnd), rest: text.slice(bodyEnd) };
}

function response(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function serveUdp(place: ListenPlace, hostname: Hostname): Promise<AsyncDisposable> {
  const socket = await bindUdp(place);
  socket.on('message', (message, peer: dgram.RemoteInfo) => {
    socket.send(datagramFor(message, hostname, peer), peer.port, peer.address);
  });
  // An answer that cannot be delivered is the asker's to notice.
  socket.on('error', () => undefined);
  return {
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}

const ECHO_WORD = 'echo ';

function datagramFor(message: Buffer, hostname: Hostname, peer: dgram.RemoteInfo): string {
  const text = message.toString('latin1');
  if (text.startsWith(ECHO_WORD)) return text.slice(ECHO_WORD.length);
  return text.trim() === 'hostname' ? nameAt(hostname) : endpoint(peer.address, peer.port);
}

/** `address:port` as netexec writes it, IPv6 in brackets. */
function endpoint(address: string | undefined, port: number | undefined): string {
  const plain = canonicalIp(address ?? '') ?? '';
  return plain.includes(':') ? `[${plain}]:${port}` : `${plain}:${port}`;
}
