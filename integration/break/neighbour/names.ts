export const HOSTILE = 'hostile';
export const VICTIM = 'victim';

export const NODE = 'node1';
export const NODE_INDEX = 1;
export const SERVE_PORT = 8080;
export const SERVICE_PORT = 80;
export const FLOOD_PORT = 5_353;

/** Sources of datagrams, all of them local to the pod of the hostile user. */
export const FLOOD_CIDR = '10.192.0.0/13';
export const FLOOD_FROM = '10.192.0.0';
/** Clients of the victim's sticky Service, all of them local to the pod that asks. */
export const CLIENT_CIDR = '10.204.0.0/16';

/** What the hostile user may hold at once: the API server and etcd of the lab have to survive it. */
export interface Limits {
  readonly externalIps: number;
  /** For the Service with externalIPs. */
  readonly externalEndpoints: number;
  /** Slices of 1,000 endpoints. */
  readonly wideSlices: number;
  readonly sourceRanges: number;
  readonly stickyServices: number;
  readonly floodSources: number;
}

export const LIMITS: Limits = {
  externalIps: 3_000,
  externalEndpoints: 1_000,
  wideSlices: 100,
  sourceRanges: 12_000,
  stickyServices: 4_000,
  /** More than the affinity set of a family holds. */
  floodSources: 300_000,
};

/** For code that holds memory for each externalIP x endpoint, and compares ranges each with each. */
export const GENTLE_LIMITS: Limits = {
  externalIps: 150,
  externalEndpoints: 500,
  wideSlices: 20,
  sourceRanges: 2_000,
  stickyServices: 500,
  floodSources: 80_000,
};
