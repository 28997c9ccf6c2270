import type { ClusterAccess } from '../access.ts';

/** Into a server that asks for nothing. */
export function openAccess(server: URL, parts: Partial<ClusterAccess> = {}): ClusterAccess {
  return {
    server,
    tls: async () => ({ isUnverified: false }),
    token: async () => undefined,
    rejected: () => undefined,
    warnings: async () => [],
    ...parts,
  };
}
