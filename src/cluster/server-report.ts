/** Optional features of an API server. */
export const SERVER_FEATURES = ['ServiceCIDR', 'namespace labels', 'streaming lists'] as const;

export type ServerFeature = (typeof SERVER_FEATURES)[number];

/**
 * RBAC rejects a request before it is known whether the resource exists: discovery distinguishes
 * the two.
 */
export type GapReason = 'not served' | 'forbidden';

export interface ServerGap {
  readonly feature: ServerFeature;
  readonly reason: GapReason;
  /** The consequence, as text. */
  readonly effect: string;
  /** Whether Services are served differently without it. */
  readonly isFelt: boolean;
}

/** Version and missing features of the API server. */
export interface ServerReport {
  /** `v1.33`; undefined: not read yet, or unknown. */
  readonly version?: string;
  /** `v1.36.4`: the version of the binary, where it emulates another version. */
  readonly emulatedBy?: string;
  /** In the order of `SERVER_FEATURES`. */
  readonly gaps: readonly ServerGap[];
}

const EFFECTS: Readonly<Record<ServerFeature, string>> = {
  ServiceCIDR: 'service ranges unknown, unused IPs not rejected',
  'namespace labels': 'fairlead.dev/ebpf works on Services only',
  'streaming lists': 'lists are read in pages',
};

export function gapOf(feature: ServerFeature, reason: GapReason): ServerGap {
  return { feature, reason, effect: EFFECTS[feature], isFelt: feature !== 'streaming lists' };
}

/** `API server v1.33`. */
export function serverText({ version, emulatedBy }: ServerReport): string {
  const emulation = emulatedBy === undefined ? '' : `, emulated by ${emulatedBy}`;
  return `API server${version === undefined ? '' : ` ${version}`}${emulation}`;
}

/** `no ServiceCIDR (forbidden): service ranges unknown, unused IPs not rejected`. */
export function gapText({ feature, reason, effect }: ServerGap): string {
  return `no ${feature} (${reason}): ${effect}`;
}
