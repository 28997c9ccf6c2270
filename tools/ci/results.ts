/** How one part ended. */
export interface PartResult {
  readonly name: string;
  readonly seconds: number;
  /** What it was allowed, on this machine and with these caches. */
  readonly budgetSeconds: number;
  /** Nothing when it passed within its budget. */
  readonly failure?: string;
}

export interface Summary {
  readonly plan: string;
  readonly commit: string | undefined;
  /** Parts that find no cache, and have their cold budgets. */
  readonly cold: readonly string[];
  /** How many times as long as the reference machine this one takes. */
  readonly slowness: number;
  readonly results: readonly PartResult[];
  /** Parts of the plan that have no result. */
  readonly notRun: readonly string[];
}

/** A part that succeeded too late has failed. */
export function judged(
  name: string,
  end: { seconds: number; failure?: string },
  budgetSeconds: number,
): PartResult {
  const { seconds } = end;
  const isLate = seconds > budgetSeconds;
  const late = `over its budget: ${seconds.toFixed(1)} s of ${budgetSeconds} s`;
  const failure = end.failure ?? (isLate ? late : undefined);
  return { name, seconds, budgetSeconds, ...(failure === undefined ? {} : { failure }) };
}

export function firstFailure({ results }: Summary): PartResult | undefined {
  return results.find(({ failure }) => failure !== undefined);
}

export function secondsOf(results: readonly PartResult[]): number {
  return results.reduce((sum, { seconds }) => sum + seconds, 0);
}
