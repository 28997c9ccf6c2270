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
  /** Resolves when it no longer listens, for any reason. */
  readonly closed: Promise<void>;
  /** Closes the port and all connections immediately. */
  close(): void;
}

const OWNER_ONLY_MASK = 0o177;
/**
 * Length of the accept queue. A full queue drops SYNs, which are retransmitted after a second: too
 * late for a probe. Limited by `net.core.somaxconn`.
 */
const BACKLOG = 4096;

/**
 * Passes every connection to `serve` until closed. Rejects with the error of Node when it cannot
 * listen.
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
  // An error of a listening server is followed by `close`.
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
  // A Unix socket gets its mode from the umask when it is created, so that there is no moment in
  // which other users can connect, as there would be before a chmod.
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
