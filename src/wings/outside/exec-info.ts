import type { ClusterAccess } from '../../cluster/access.ts';
import { booleanAt, isRecord, parseJson, recordAt, textAt } from '../../cluster/json.ts';
import { Secret } from '../../cluster/secret.ts';

/** What the caller of a credential plugin tells it, by KUBERNETES_EXEC_INFO. */
export interface ExecInfo {
  readonly apiVersion: string;
  /** How to reach the cluster with a token; undefined: the caller did not say. */
  readonly accessWith: ((token: string) => ClusterAccess) | undefined;
}

/** Undefined: not called as a plugin. */
export function execInfoFrom(text: string | undefined): ExecInfo | undefined {
  const value = parseJson(text ?? '')?.value;
  if (!isRecord(value) || value['kind'] !== 'ExecCredential') return undefined;
  const cluster = recordAt(recordAt(value, 'spec'), 'cluster');
  const server = textAt(cluster, 'server');
  const apiVersion = textAt(value, 'apiVersion');
  if (!URL.canParse(server)) return { apiVersion, accessWith: undefined };
  const authority = textAt(cluster, 'certificate-authority-data');
  const serverName = textAt(cluster, 'tls-server-name');
  const proxyUrl = textAt(cluster, 'proxy-url');
  const tls = {
    isUnverified: booleanAt(cluster, 'insecure-skip-tls-verify') === true,
    ...(serverName === '' ? {} : { serverName }),
    ...(authority === ''
      ? {}
      : { certificateAuthority: Buffer.from(authority, 'base64').toString('utf8') }),
  };
  return {
    apiVersion,
    accessWith: (token) => ({
      server: new URL(server),
      ...(proxyUrl === '' ? {} : { proxyUrl: new Secret(proxyUrl) }),
      tls: async () => tls,
      token: async () => new Secret(token),
      rejected: () => undefined,
      warnings: async () => [],
    }),
  };
}
