import { once } from 'node:events';
import net from 'node:net';
import { systemCodeOf } from './server-error.ts';

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

const OWNER_ONLY_MASK = 0o177;
/**
 * Connections that the kernel keeps until they are accepted. A full queue drops a SYN, which is sent
 * again after a second: too late for a probe. `net.core.somaxconn` has the last word.
 */
const BACKLOG = 4096;

/**
 * Hands every connection at a place to `serve`, until it is closed. Rejects with the error of Node
 * when the place cannot be had.
 */
export async function openServer(
  place: Place,
  serve: (socket: net.Socket) => void,
): Promise<OpenServer> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(socket);
  });
  await listen(server, place);
  const closed = once(server, 'close').then(() => undefined);
  // An error of a server that listens is followed by its end.
  server.on('error', () => server.close());
  return {
    port: portOf(server),
    closed,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** As in Go, `0.0.0.0` means every address of both families, unless the kernel has no IPv6. */
async function listen(server: net.Server, place: Place): Promise<void> {
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

async function listenOn(server: net.Server, options: net.ListenOptions): Promise<void> {
  const listening = once(server, 'listening');
  // A unix socket takes its mode from the mask, and listening makes it before it returns: nobody
  // but us can connect, not even for the moment that a later chmod would leave.
  const mask = options.path === undefined ? undefined : process.umask(OWNER_ONLY_MASK);
  try {
    server.listen({ ...options, exclusive: true, backlog: BACKLOG });
  } finally {
    if (mask !== undefined) process.umask(mask);
  }
  await listening;
}

function portOf(server: net.Server): number {
  const address = server.address();
  return address === null || typeof address === 'string' ? 0 : address.port;
}
