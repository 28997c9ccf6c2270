import type { ClusterAccess } from '../access.ts';

/** Access to a server without authentication. */
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
