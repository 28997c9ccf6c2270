/** Of all values, where a share of them is no larger. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export interface Spread {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export function spreadOf(valuesMs: readonly number[]): Spread {
  return {
    count: valuesMs.length,
    p50Ms: quantile(valuesMs, 0.5),
    p99Ms: quantile(valuesMs, 0.99),
    maxMs: quantile(valuesMs, 1),
  };
}
