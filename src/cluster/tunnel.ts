import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import tls from 'node:tls';
import type { Dial } from './api-socket.ts';
import { ClusterError } from './cluster-error.ts';
import type { Secret } from './secret.ts';

const HTTP_OK = 200;
const ANSWER_DEADLINE_MS = 10_000;

/** Connects through an HTTP proxy (CONNECT, RFC 9110). */
export function dialThrough(proxyUrl: Secret, dial: Dial): Dial {
  return async (host, port) => {
    const proxy = new URL(proxyUrl.reveal());
    const isEncrypted = proxy.protocol === 'https:';
    const proxyPort = proxy.port === '' ? (isEncrypted ? 443 : 80) : Number(proxy.port);
    // A socket file reaches a proxy that has another network than this process.
    const isFile = proxy.protocol === 'unix:';
    const plain = isFile
      ? net.connect({ path: decodeURIComponent(proxy.pathname) })
      : await dial(proxy.hostname, proxyPort);
    const socket = isEncrypted
      ? tls.connect({ socket: plain, host: proxy.hostname, servername: proxy.hostname })
      : plain;
    try {
      return await askToConnect(socket, { to: authority(host, port), proxy });
    } catch (error) {
      socket.destroy();
      if (error instanceof ClusterError) throw error;
      throw new ClusterError('CLUSTER_PROXY', `cannot connect through the proxy ${proxy.host}`, {
        next: 'check proxy-url in the kubeconfig',
        cause: error,
      });
    }
  };
}

function authority(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

async function askToConnect(
  socket: net.Socket,
  { to, proxy }: { readonly to: string; readonly proxy: URL },
): Promise<net.Socket> {
  const ask = http.request({
    method: 'CONNECT',
    path: to,
    createConnection: () => socket,
    headers: { host: to, ...proxyAuthorization(proxy) },
  });
  ask.end();
  const signal = AbortSignal.timeout(ANSWER_DEADLINE_MS);
  const answered = once(ask, 'connect', { signal });
  const [response, tunnel, head] = (await answered) as [http.IncomingMessage, net.Socket, Buffer];
  if (response.statusCode !== HTTP_OK) {
    tunnel.destroy();
    throw new ClusterError(
      'CLUSTER_PROXY',
      `the proxy ${proxy.host} rejected CONNECT ${to} with status ${response.statusCode}`,
      { next: 'check that the proxy allows this address, and the user and password in proxy-url' },
    );
  }
  if (head.length > 0) tunnel.unshift(head);
  return tunnel;
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  if (proxy.username === '' && proxy.password === '') return {};
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
}
