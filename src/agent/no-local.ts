import { FAMILIES, type Family, type Forwarding } from '../forwarding/model.ts';

/** Service ports with a policy Local whose endpoints are all on other nodes. */
export interface NoLocalCount {
  readonly family: Family;
  readonly policy: Policy;
  readonly count: number;
}

type Policy = 'internal' | 'external';
const POLICIES: readonly Policy[] = ['internal', 'external'];

/** Counts them incrementally: a walk over fifty thousand rows for every scrape took 20 ms. */
export class NoLocalCounts {
  readonly #counts: Record<Family, Record<Policy, number>> = {
    IPv4: { internal: 0, external: 0 },
    IPv6: { internal: 0, external: 0 },
  };

  change({ before, after }: { before: Forwarding | undefined; after: Forwarding | undefined }) {
    if (before !== undefined) this.#count(before, -1);
    if (after !== undefined) this.#count(after, 1);
  }

  counts(): NoLocalCount[] {
    return FAMILIES.flatMap((family) =>
      POLICIES.map((policy) => ({ family, policy, count: this.#counts[family][policy] })),
    );
  }

  /** A row drops only if it has endpoints on other nodes and none here, so its outcomes show it. */
  #count({ id, frontends }: Forwarding, by: 1 | -1): void {
    const counts = this.#counts[id.family];
    if (frontends.some(({ kind, outcomes }) => kind === 'cluster-ip' && drops(outcomes.pod))) {
      counts.internal += by;
    }
    if (frontends.some(({ kind, outcomes }) => kind !== 'cluster-ip' && drops(outcomes.outside))) {
      counts.external += by;
    }
  }
}

function drops({ action }: { readonly action: string }): boolean {
  return action === 'drop';
}
