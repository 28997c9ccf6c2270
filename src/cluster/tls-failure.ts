import { ClusterError, systemCode } from './errors.ts';

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

export function tlsFailure(place: string, cause: unknown): ClusterError {
  const { what, next } = REASONS.get(systemCode(cause) ?? '') ?? ANY_REASON;
  const message = `TLS handshake with ${place} failed: ${what}`;
  return new ClusterError('CLUSTER_TLS', message, { next, cause });
}
