import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import type { TlsMaterial } from './access.ts';
import { ClusterError, systemCode } from './cluster-error.ts';

/**
 * Opens a socket to a host; it may still be connecting. The lab dials from another network
 * namespace.
 */
export type Dial = (host: string, port: number) => net.Socket | Promise<net.Socket>;

export interface SocketOptions {
  readonly server: URL;
  readonly tls: TlsMaterial;
  readonly dial: Dial;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

const KEEP_ALIVE_MS = 30_000;

export const dialDirectly: Dial = (host, port) => {
  const socket = net.connect({ host, port, noDelay: true });
  return socket.setKeepAlive(true, KEEP_ALIVE_MS);
};

/**
 * Opens a socket to the server, with TLS if its URL says so, and lets `start` begin a protocol on it.
 * The deadline covers both; a failure closes the socket and is a ClusterError.
 */
export async function openSocket<Started>(
  options: SocketOptions,
  /** The protocol for ALPN. */
  protocol: 'h2' | 'http/1.1',
  start: (socket: net.Socket, signal: AbortSignal) => Promise<Started>,
): Promise<Started> {
  const late = AbortSignal.timeout(options.deadlineMs);
  const signal = AbortSignal.any([late, options.signal]);
  const { host, port, isEncrypted } = placeOf(options.server);
  const progress = { phase: 'reach' as Phase };
  let socket: net.Socket | undefined;
  try {
    socket = await dialInTime(() => options.dial(host, port), signal);
    if (socket.connecting) await once(socket, 'connect', { signal });
    progress.phase = 'agree';
    if (isEncrypted) {
      socket = await encrypt({ socket, host, material: options.tls, protocol, signal });
    }
    return await start(socket, signal);
  } catch (error) {
    socket?.destroy();
    throw explain(error, { place: `${host}:${port}`, phase: progress.phase, options, late });
  }
}

type Phase = 'reach' | 'agree';

export function placeOf(server: URL): { host: string; port: number; isEncrypted: boolean } {
  const isEncrypted = server.protocol === 'https:';
  return {
    host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: server.port === '' ? (isEncrypted ? 443 : 80) : Number(server.port),
    isEncrypted,
  };
}

/** Closes a socket that connects after the deadline. */
async function dialInTime(
  dial: () => net.Socket | Promise<net.Socket>,
  signal: AbortSignal,
): Promise<net.Socket> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const expire = (): void => reject(signal.reason);
  signal.addEventListener('abort', expire, { once: true });
  const dialing = Promise.resolve(dial());
  try {
    return await Promise.race([dialing, expired]);
  } catch (error) {
    dialing.then(
      (socket) => socket.destroy(),
      () => undefined,
    );
    throw error;
  } finally {
    signal.removeEventListener('abort', expire);
  }
}

interface Encryption {
  readonly socket: net.Socket;
  readonly host: string;
  readonly material: TlsMaterial;
  readonly protocol: string;
  readonly signal: AbortSignal;
}

async function encrypt({
  socket,
  host,
  material,
  protocol,
  signal,
}: Encryption): Promise<tls.TLSSocket> {
  const name = material.serverName ?? host;
  const encrypted = tls.connect({
    socket,
    host: name,
    // An address must not be sent as a name (RFC 6066), but is compared with the certificate.
    servername: net.isIP(name) === 0 ? name : '',
    ALPNProtocols: [protocol],
    rejectUnauthorized: !material.isUnverified,
    ...(material.certificateAuthority === undefined ? {} : { ca: material.certificateAuthority }),
    ...(material.clientCertificate === undefined ? {} : { cert: material.clientCertificate }),
    ...(material.clientKey === undefined ? {} : { key: material.clientKey.reveal() }),
  });
  try {
    await once(encrypted, 'secureConnect', { signal });
  } catch (error) {
    encrypted.destroy();
    throw error;
  }
  return encrypted;
}

interface Circumstances {
  readonly place: string;
  readonly phase: Phase;
  readonly options: SocketOptions;
  readonly late: AbortSignal;
}

function explain(error: unknown, about: Circumstances): ClusterError {
  if (error instanceof ClusterError) return error;
  if (about.late.aborted) {
    const message = `cannot connect to ${about.place} within ${about.options.deadlineMs} ms`;
    const next = 'check the server address in the kubeconfig, and firewalls on the path';
    return new ClusterError('CLUSTER_TIMEOUT', message, { next, cause: error });
  }
  const isTransport = /^(E[A-Z]+)$/.test(systemCode(error) ?? '');
  if (about.phase === 'reach' || isTransport) {
    return new ClusterError('CLUSTER_UNREACHABLE', `cannot reach ${about.place}`, {
      next: 'check that the API server runs, and its address in the kubeconfig',
      cause: error,
    });
  }
  return tlsFailure(about.place, error);
}

interface Reason {
  readonly what: string;
  readonly next: string;
}

const UNKNOWN_AUTHORITY: Reason = {
  what: 'certificate signed by an unknown authority',
  next: 'check certificate-authority of the cluster in the kubeconfig',
};
const WRONG_TIME: Reason = {
  what: 'certificate has expired or is not valid yet',
  next: "check the clock of this machine, and renew the API server's certificate",
};

/** Reasons by error code of OpenSSL and Node. */
const REASONS: ReadonlyMap<string, Reason> = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNKNOWN_AUTHORITY],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNKNOWN_AUTHORITY],
  ['CERT_SIGNATURE_FAILURE', UNKNOWN_AUTHORITY],
  ['CERT_HAS_EXPIRED', WRONG_TIME],
  ['CERT_NOT_YET_VALID', WRONG_TIME],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    {
      what: 'certificate does not include this host name',
      next: 'set server or tls-server-name in the kubeconfig to a name in the certificate',
    },
  ],
]);

/** The cause has the reason of OpenSSL. */
const ANY_REASON: Reason = {
  what: 'TLS error',
  next: 'check certificate-authority, tls-server-name and the client certificate in the kubeconfig',
};

function tlsFailure(place: string, cause: unknown): ClusterError {
  const { what, next } = REASONS.get(systemCode(cause) ?? '') ?? ANY_REASON;
  const message = `TLS handshake with ${place} failed: ${what}`;
  return new ClusterError('CLUSTER_TLS', message, { next, cause });
}
