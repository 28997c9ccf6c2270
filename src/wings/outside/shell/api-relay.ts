import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Dial } from '../../../cluster/api-socket.ts';

export interface RelayOptions {
  readonly path: string;
  /** The only address that it connects to: the API server's. */
  readonly host: string;
  readonly port: number;
  readonly dial: Dial;
}

const FORBIDDEN = 403;
const UNREACHABLE = 502;

/**
 * An HTTP proxy at a socket file: gives processes of another network namespace connections to the
 * API server, and to nothing else. TLS is between the two ends.
 */
export async function startRelay(options: RelayOptions, signal: AbortSignal): Promise<void> {
  const server = http.createServer((_, response) => response.writeHead(FORBIDDEN).end());
  const authority = options.host.includes(':') ? `[${options.host}]` : options.host;
  server.on('connect', (request: http.IncomingMessage, client: net.Socket, head: Buffer) => {
    client.on('error', () => client.destroy());
    if (request.url !== `${authority}:${options.port}`) reject(client, FORBIDDEN);
    else void relay(client, head, options);
  });
  server.listen(options.path);
  await once(server, 'listening');
  signal.addEventListener('abort', () => {
    server.close();
    server.closeAllConnections();
  });
}

async function relay(client: net.Socket, head: Buffer, options: RelayOptions): Promise<void> {
  let server: net.Socket;
  try {
    server = await options.dial(options.host, options.port);
    if (server.connecting) await once(server, 'connect');
  } catch {
    // The client hears of it, and tells its user.
    reject(client, UNREACHABLE);
    return;
  }
  client.write('HTTP/1.1 200 OK\r\n\r\n');
  if (head.length > 0) server.write(head);
  // Either end may break off at any time; the other one is closed then.
  await Promise.allSettled([pipeline(client, server), pipeline(server, client)]);
  client.destroy();
  server.destroy();
}

function reject(client: net.Socket, status: number): void {
  client.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
}
