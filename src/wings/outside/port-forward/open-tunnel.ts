import type { ClusterAccess } from '../../../cluster/access.ts';
import { ClusterError } from '../../../cluster/errors.ts';
import { type Dial, openSocket } from '../../../cluster/socket.ts';
import { dialThrough } from '../../../cluster/tunnel.ts';
import { type PodName, upgrade } from './handshake.ts';
import { PodTunnel, type TunnelListener } from './pod-tunnel.ts';

const HTTP_UNAUTHORIZED = 401;
const OPEN_DEADLINE_MS = 10_000;

export interface TunnelOptions {
  readonly access: ClusterAccess;
  readonly dial: Dial;
  readonly userAgent: string;
}

export interface WantedTunnel {
  readonly pod: PodName;
  readonly listener: TunnelListener;
  readonly signal: AbortSignal;
}

/** Opens a WebSocket to a pod. Throws ClusterError. */
export async function openTunnel(options: TunnelOptions, wanted: WantedTunnel): Promise<PodTunnel> {
  const token = await options.access.token();
  try {
    return await openWith(options, wanted, token);
  } catch (error) {
    if (!(error instanceof ClusterError) || error.status !== HTTP_UNAUTHORIZED) throw error;
    options.access.rejected(token);
    return await openWith(options, wanted, await options.access.token());
  }
}

async function openWith(
  { access, dial, userAgent }: TunnelOptions,
  { pod, listener, signal }: WantedTunnel,
  token: Awaited<ReturnType<ClusterAccess['token']>>,
): Promise<PodTunnel> {
  const { server, proxyUrl } = access;
  const socket = {
    server,
    tls: await access.tls(),
    dial: proxyUrl === undefined ? dial : dialThrough(proxyUrl, dial),
    deadlineMs: OPEN_DEADLINE_MS,
    signal,
  };
  // HTTP/2 has no upgrade: port-forward is offered over HTTP/1.1 alone.
  return await openSocket(socket, 'http/1.1', async (opened, late) => {
    const first = await upgrade(opened, { server, pod, token, userAgent }, late);
    const tunnel = new PodTunnel(opened, `${pod.namespace}/${pod.name}`, listener);
    tunnel.start(first);
    return tunnel;
  });
}
