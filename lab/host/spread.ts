/** A median, and between which values the middle half of all is. */
export interface Quartiles {
  readonly count: number;
  readonly median: number;
  readonly p25: number;
  readonly p75: number;
}

/** Of at least one value. */
export function quartilesOf(values: readonly number[]): Quartiles {
  if (values.length === 0) throw new TypeError('cannot take the median of no values');
  return {
    count: values.length,
    median: median(values),
    p25: quantile(values, 0.25),
    p75: quantile(values, 0.75),
  };
}

/** `41 (38 to 47)` */
export function quartilesText({ median, p25, p75 }: Quartiles, digits = 0): string {
  const [middle, low, high] = [median, p25, p75].map((value) => value.toFixed(digits));
  return `${middle} (${low} to ${high})`;
}

/** The value that a share of all values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Between the two in the middle, if they are two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const upper = sorted[Math.floor(half)] ?? Number.NaN;
  return Number.isInteger(half) ? ((sorted[half - 1] ?? Number.NaN) + upper) / 2 : upper;
}
