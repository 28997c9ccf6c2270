import type { FairleadMode } from '../../../../lab/proxies/fairlead-modes.ts';
import type { Filled } from './filled.ts';
import type { Tenant } from './tenant.ts';

/** A room that tenants share, and how one of them fills it. */
export interface Bound {
  readonly name: string;
  readonly limit: string;
  readonly modes: readonly FairleadMode[];
  /** Resolves while the room is full, or as full as the product lets one tenant make it. */
  readonly fill: (tenant: Tenant) => Promise<Filled>;
  /** What `fairlead status` must say while it is full; undefined: nothing is promised. */
  readonly told?: RegExp;
  /** The kernel takes over, which has affinity entries of its own: clients get another endpoint once. */
  readonly movesAffinityIn?: readonly FairleadMode[];
}

/** A bound that a test of its own fills, in less time or with less harm than a lab. */
export interface TestedBound {
  readonly name: string;
  readonly limit: string;
  readonly test: string;
}
