import type { Family, Forwarding } from '../../forwarding/model.ts';

/** Service ports with a policy Local whose endpoints are all on other nodes. */
export interface NoLocalCount {
  readonly family: Family;
  readonly policy: 'internal' | 'external';
  readonly count: number;
}

/** A row drops only what has endpoints elsewhere and none here, so its outcomes tell. */
export function countNoLocal(rows: Iterable<Forwarding>): NoLocalCount[] {
  const counts = {
    IPv4: { internal: 0, external: 0 },
    IPv6: { internal: 0, external: 0 },
  };
  for (const { id, frontends } of rows) {
    const ofFamily = counts[id.family];
    if (frontends.some(({ kind, outcomes }) => kind === 'cluster-ip' && drops(outcomes.pod))) {
      ofFamily.internal++;
    }
    if (frontends.some(({ kind, outcomes }) => kind !== 'cluster-ip' && drops(outcomes.outside))) {
      ofFamily.external++;
    }
  }
  return (['IPv4', 'IPv6'] as const).flatMap((family) =>
    (['internal', 'external'] as const).map((policy) => {
      return { family, policy, count: counts[family][policy] };
    }),
  );
}

function drops({ action }: { readonly action: string }): boolean {
  return action === 'drop';
}
