/** What CI can run: each landing (`run`), and once a night (`nightly`). */
export const PLANS = ['run', 'nightly'] as const;
export type Plan = (typeof PLANS)[number];

/** Seconds that a part may take on the reference machine. */
export interface Budget {
  readonly cached: number;
  /** When the programs that Go builds have to be built first. */
  readonly cold: number;
}

export interface Part {
  /** In lower case and dashes: the name of its log, and what `--only` takes. */
  readonly name: string;
  readonly about: string;
  /** As a person would type it; without one, the script that started the runner has done it. */
  readonly command?: readonly [string, ...string[]];
  readonly plans: readonly Plan[];
  readonly budget: Budget;
}

export function budgetSeconds({ budget }: Part, isCold: boolean): number {
  return isCold ? budget.cold : budget.cached;
}

export function totalSeconds(parts: readonly Part[], isCold: boolean): number {
  return parts.reduce((sum, part) => sum + budgetSeconds(part, isCold), 0);
}
