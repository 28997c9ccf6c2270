import type dgram from 'node:dgram';
import type net from 'node:net';
import { canonicalIp } from '../../src/addresses/ip.ts';
import { bindUdp, type ListenPlace, listenTcp } from '../host/sockets.ts';

export interface ServedPort {
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
}

export interface NetexecOptions {
  readonly namespacePath: string;
  /** The only address it listens on; every one of the namespace when not given. */
  readonly address?: string;
  readonly hostname: string;
  readonly ports: readonly ServedPort[];
}

/**
 * The part of upstream's `agnhost netexec` that a proxy is judged by, for labs with hundreds of
 * pods: who answered (`/hostname`) and which address the question came from (`/clientip`), over
 * HTTP with kept connections and as bare words over UDP. All pods share this one process.
 */
export async function startNetexec(options: NetexecOptions): Promise<AsyncDisposable> {
  const servers = await Promise.all(
    options.ports.map(({ port, protocol }) => {
      const { namespacePath: namespace, address } = options;
      const place = { namespace, port, ...(address === undefined ? {} : { address }) };
      return protocol === 'TCP'
        ? serveTcp(place, options.hostname)
        : serveUdp(place, options.hostname);
    }),
  );
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

async function serveTcp(place: ListenPlace, hostname: string): Promise<AsyncDisposable> {
  const open = new Set<net.Socket>();
  const server = await listenTcp(place, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // The peer's resets are the peer's: a proxy under test may cut any connection.
    socket.on('error', () => socket.destroy());
    answerRequests(socket, hostname);
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

const END_OF_REQUEST = '\r\n\r\n';

function answerRequests(socket: net.Socket, hostname: string): void {
  const client = endpoint(socket.remoteAddress, socket.remotePort);
  let pending = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    const requests = (pending + text).split(END_OF_REQUEST);
    pending = requests.pop() ?? '';
    for (const request of requests) {
      socket.write(response(request.startsWith('GET /hostname') ? hostname : client));
    }
  });
}

function response(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function serveUdp(place: ListenPlace, hostname: string): Promise<AsyncDisposable> {
  const socket = await bindUdp(place);
  socket.on('message', (message, peer: dgram.RemoteInfo) => {
    const word = message.toString().trim();
    const client = endpoint(peer.address, peer.port);
    socket.send(word === 'hostname' ? hostname : client, peer.port, peer.address);
  });
  // An answer that cannot be delivered is the asker's to notice.
  socket.on('error', () => undefined);
  return {
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}

/** `address:port` as netexec writes it, IPv6 in brackets. */
function endpoint(address: string | undefined, port: number | undefined): string {
  const plain = canonicalIp(address ?? '') ?? '';
  return plain.includes(':') ? `[${plain}]:${port}` : `${plain}:${port}`;
}
