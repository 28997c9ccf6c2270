import type { AccessWarning } from '../access.ts';

export function plainHttpWarnings(server: URL): AccessWarning[] {
  if (server.protocol !== 'http:') return [];
  return [
    {
      code: 'API_SERVER_PLAIN_HTTP',
      message: `the API server ${server.host} is reached over plain HTTP: any host on the path can read the token and forge responses`,
      next: 'use its https:// address, and certificate-authority in the kubeconfig',
    },
  ];
}
