import type { Secret } from './secret.ts';

/**
 * The address of a cluster and the credentials for it. Read again for each use, because files and
 * tokens change.
 */
export interface ClusterAccess {
  readonly server: URL;
  /** URL of an HTTP proxy; may contain a password. */
  readonly proxyUrl?: Secret;
  /** Read before each connection. */
  tls(): Promise<TlsMaterial>;
  /** The bearer token; read before each request. */
  token(): Promise<Secret | undefined>;
  /** The server rejected the token: a cached copy must not be used again. */
  rejected(token: Secret | undefined): void;
  /** Warnings about unsafe settings for this server. */
  warnings(server: URL): Promise<readonly AccessWarning[]>;
}

/** A setting that works, but lets other hosts read or take over the connection. */
export interface AccessWarning {
  readonly code: 'API_SERVER_PLAIN_HTTP' | 'API_SERVER_UNVERIFIED' | 'CREDENTIALS_EXPOSED';
  readonly message: string;
  readonly next: string;
}

export interface TlsMaterial {
  /** PEM; default: the authorities that the machine trusts. */
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: Secret;
  /** The name in the server's certificate, if it is not the one in the URL. */
  readonly serverName?: string;
  /** insecure-skip-tls-verify: the server's certificate is not verified. */
  readonly isUnverified: boolean;
}
