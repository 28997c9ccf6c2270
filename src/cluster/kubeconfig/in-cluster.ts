import { join } from 'node:path';
import type { ClusterAccess } from '../access.ts';
import { ClusterError } from '../cluster-error.ts';
import { tokenFromFile } from './identity.ts';
import { type Material, readMaterial } from './material.ts';
import { plainHttpWarnings } from './plain-http.ts';

export interface InClusterOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the kubelet mounts the service account. */
  readonly folder?: string;
}

export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Access for a pod: its service account, whose token the kubelet renews. */
export function inClusterAccess(options: InClusterOptions): ClusterAccess {
  const host = options.env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = options.env['KUBERNETES_SERVICE_PORT'] ?? '';
  const address = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (host === '' || port === '' || !URL.canParse(address)) {
    throw new ClusterError(
      'IN_CLUSTER_MISSING',
      'no kubeconfig was given, and this process does not run in a pod',
      {
        next: 'pass --kubeconfig FILE, or set KUBECONFIG in the environment',
      },
    );
  }
  const folder = options.folder ?? SERVICE_ACCOUNT_FOLDER;
  const token: Material = { from: 'file', path: join(folder, 'token') };
  const authority: Material = { from: 'file', path: join(folder, 'ca.crt') };
  return {
    server: new URL(address),
    token: tokenFromFile(token),
    tls: async () => ({
      isUnverified: false,
      certificateAuthority: await readMaterial(authority, 'the certificate authority'),
    }),
    rejected: () => undefined,
    warnings: async (server) => plainHttpWarnings(server),
  };
}
