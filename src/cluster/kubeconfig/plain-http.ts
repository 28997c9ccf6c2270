import type { AccessWarning } from '../access.ts';

export function plainHttpWarnings(server: URL): AccessWarning[] {
  if (server.protocol !== 'http:') return [];
  return [
    {
      code: 'API_SERVER_PLAIN_HTTP',
      message: `the API server ${server.host} is reached by plain http: any host on the path can read the token and forge what the cluster says`,
      next: 'use its https:// address, and certificate-authority in the kubeconfig',
    },
  ];
}
