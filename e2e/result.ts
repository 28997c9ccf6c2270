export type SpecState = 'passed' | 'failed' | 'skipped';

/** How one of upstream's specs ended. */
export interface SpecResult {
  readonly name: string;
  readonly state: SpecState;
  readonly seconds: number;
  /** Why it failed or skipped itself. */
  readonly message: string;
  /** What it said on the way. */
  readonly output: string;
}

export interface ProxyResults {
  readonly proxy: string;
  readonly isUpstream: boolean;
  readonly specs: readonly SpecResult[];
  /** Until the cluster was ready, and then until the last spec had ended. */
  readonly upSeconds: number;
  readonly runSeconds: number;
}

/** Without the group they all belong to, and without the labels that only choose them. */
export function shortName(name: string): string {
  return name
    .replace(/^\[sig-network\] /, '')
    .replace(/ ?\[(LinuxOnly|Serial|Disruptive|Privileged|NodeConformance|Slow)\]/g, '')
    .trim();
}
