import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';
import { acceptWaiting, LISTEN_BACKLOG, openBoundSocket, openSocket } from './libc.ts';

/** Where a connection starts: the namespace, and the source address if it matters. */
export interface Origin {
  readonly namespace: string;
  /** The control group that the socket is made in, where it matters. */
  readonly group?: string | undefined;
  readonly sourceAddress?: string | undefined;
  readonly sourcePort?: number | undefined;
}

export interface Destination {
  readonly address: string;
  readonly port: number;
}

/** A TCP socket that is connecting from another namespace. Listen for `connect` and `error`. */
export function dialTcp(origin: Origin, to: Destination): net.Socket {
  return dialStream(origin, to, 'tcp');
}

/**
 * The same for SCTP: in its one-to-one style a socket connects, reads and writes as one of TCP does,
 * and Node does not know the difference. It needs a source address: an association from all
 * addresses of a host has them in its messages, which no NAT translates.
 */
export function dialSctp(
  origin: Origin & { readonly sourceAddress: string },
  to: Destination,
): net.Socket {
  return dialStream(origin, to, 'sctp');
}

function dialStream(origin: Origin, to: Destination, kind: 'tcp' | 'sctp'): net.Socket {
  const fd = openSocket({
    namespace: origin.namespace,
    group: origin.group,
    kind,
    version: versionOf(to.address),
  });
  const socket = new net.Socket({ fd, readable: true, writable: true });
  return socket.connect({
    host: to.address,
    port: to.port,
    ...(origin.sourceAddress === undefined ? {} : { localAddress: origin.sourceAddress }),
    ...(origin.sourcePort === undefined ? {} : { localPort: origin.sourcePort }),
  });
}

/** A UDP socket connected from another namespace: rejections (ICMP) then arrive as `error`. */
export async function dialUdp(origin: Origin, to: Destination): Promise<dgram.Socket> {
  return await dialDatagrams(origin, to, 'udp');
}

/** A socket for echo requests. Node insists on a port, which means nothing to it. */
export async function dialPing(
  origin: Origin,
  to: Pick<Destination, 'address'>,
): Promise<dgram.Socket> {
  return await dialDatagrams(origin, { address: to.address, port: 1 }, 'icmp');
}

async function dialDatagrams(
  origin: Origin,
  to: Destination,
  kind: 'udp' | 'icmp',
): Promise<dgram.Socket> {
  const version = versionOf(to.address);
  const socket = dgram.createSocket(version === 4 ? 'udp4' : 'udp6');
  const bound = once(socket, 'listening');
  const address = origin.sourceAddress ?? (version === 4 ? '0.0.0.0' : '::');
  const bindTo = { address, port: origin.sourcePort ?? 0 };
  const { namespace, group } = origin;
  socket.bind({ fd: openSocket({ namespace, group, kind, version, bindTo }) });
  await bound;
  const connected = once(socket, 'connect');
  socket.connect(to.port, to.address);
  await connected;
  return socket;
}

/** Where a server listens: on a port of one address, or of every address of a namespace. */
export interface ListenPlace {
  readonly namespace: string;
  readonly address?: string;
  readonly port: number;
}

/**
 * A TCP server in another namespace.
 *
 * Node accepts one connection of a server in each event loop iteration, and one process is every pod
 * and every client: with 240 clients of one pod and iterations of 42 ms on a busy machine, the last
 * one would be connected and wait for ten seconds. So accept all waiting connections with the first.
 */
export async function listenTcp(
  place: ListenPlace,
  onConnection: (socket: net.Socket) => void,
): Promise<net.Server> {
  return await listenStream(place, onConnection, 'tcp');
}

/** The same for SCTP, on one address: see `dialSctp`. */
export async function listenSctp(
  place: ListenPlace & { readonly address: string },
  onConnection: (socket: net.Socket) => void,
): Promise<net.Server> {
  return await listenStream(place, onConnection, 'sctp');
}

async function listenStream(
  place: ListenPlace,
  onConnection: (socket: net.Socket) => void,
  kind: 'tcp' | 'sctp',
): Promise<net.Server> {
  const listener = openBoundSocket({ ...place, kind });
  const server = net.createServer((first) => {
    onConnection(first);
    while (server.listening) {
      const fd = acceptWaiting(listener);
      if (fd === undefined) return;
      onConnection(new net.Socket({ fd, readable: true, writable: true }));
    }
  });
  const listening = once(server, 'listening');
  // Node calls listen(2) again, with a backlog of 511 by default.
  server.listen({ fd: listener }, LISTEN_BACKLOG);
  await listening;
  return server;
}

/** A UDP server in another namespace. */
export async function bindUdp(place: ListenPlace): Promise<dgram.Socket> {
  const socket = dgram.createSocket(versionOf(place.address ?? '::') === 4 ? 'udp4' : 'udp6');
  const listening = once(socket, 'listening');
  socket.bind({ fd: openBoundSocket({ ...place, kind: 'udp' }) });
  await listening;
  return socket;
}

function versionOf(address: string): 4 | 6 {
  return net.isIPv6(address) ? 6 : 4;
}
