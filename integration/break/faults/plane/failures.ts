/** Calls of the system that are let fail, counted. */
export interface Failures {
  readonly callCount: number;
  readonly failedCount: number;
}

/** Which calls these are, and how often they fail. */
export interface FailurePlan {
  readonly failing: 'netlink' | 'maps' | 'ipvs';
  readonly share: number;
}
