import type { Secret } from './secret.ts';

/** Where a cluster is, and what is needed to be let in. Read anew, because files and tokens change. */
export interface ClusterAccess {
  readonly server: URL;
  /** An HTTP proxy on the way to the server; may hold a password. */
  readonly proxyUrl?: Secret;
  /** Asked for before each connection. */
  tls(): Promise<TlsMaterial>;
  /** The bearer token; asked for before each request. */
  token(): Promise<Secret | undefined>;
  /** The server did not accept it: what is held of it in memory is not to be used again. */
  rejected(token: Secret | undefined): void;
  /** What is unsafe about this way to a server. */
  warnings(server: URL): Promise<readonly AccessWarning[]>;
}

/** A way to the API server that works, and that others can listen to or take over. */
export interface AccessWarning {
  readonly code: 'API_SERVER_PLAIN_HTTP' | 'API_SERVER_UNVERIFIED' | 'CREDENTIALS_EXPOSED';
  readonly message: string;
  readonly next: string;
}

export interface TlsMaterial {
  /** PEM; the authorities that the machine trusts when not given. */
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: Secret;
  /** The name on the server's certificate, when it is not the one in the URL. */
  readonly serverName?: string;
  /** Somebody wrote that the server's certificate is not to be looked at. */
  readonly isUnverified: boolean;
}
