import { once } from 'node:events';
import http2 from 'node:http2';
import type net from 'node:net';
import tls from 'node:tls';
import { ClusterError } from './errors.ts';
import { openSocket, type SocketOptions } from './socket.ts';

/** Flow control window: enough for a distant server, small enough for backpressure. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const SESSION_WINDOW_BYTES = 8 * 1024 * 1024;

/** Opens an HTTP/2 session, and waits for the settings of the server. */
export async function openSession(options: SocketOptions): Promise<http2.ClientHttp2Session> {
  return await openSocket(options, 'h2', (socket, signal) =>
    startHttp2(socket, options.server, signal),
  );
}

async function startHttp2(
  socket: net.Socket,
  server: URL,
  signal: AbortSignal,
): Promise<http2.ClientHttp2Session> {
  if (socket instanceof tls.TLSSocket && socket.alpnProtocol !== 'h2') {
    throw new ClusterError('CLUSTER_NO_HTTP2', `${server.host} does not offer HTTP/2`, {
      next: 'check for a load balancer or proxy in front of the API server: it must pass HTTP/2 (ALPN h2) through',
    });
  }
  const session = http2.connect(server.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
  });
  // TLS errors after the handshake, such as a missing client certificate under TLS 1.3, are emitted
  // on the socket and not on the session, which would wait for ever.
  const failed = new Promise<never>((_, reject) => socket.once('error', reject));
  failed.catch((error) => session.destroy(error));
  try {
    await Promise.race([once(session, 'remoteSettings', { signal }), failed]);
  } catch (error) {
    session.on('error', () => undefined);
    session.destroy();
    throw error;
  }
  session.setLocalWindowSize(SESSION_WINDOW_BYTES);
  return session;
}
