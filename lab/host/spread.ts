/** A median, and between which values the middle half of all is. */
export interface Quartiles {
  readonly count: number;
  readonly median: number;
  readonly p25: number;
  readonly p75: number;
}

/** Of at least one value. */
export function quartilesOf(values: readonly number[]): Quartiles {
  if (values.length === 0) throw new TypeError('no values to take a median of');
  const sorted = values.toSorted((a, b) => a - b);
  return {
    count: sorted.length,
    median: at(sorted, 0.5),
    p25: at(sorted, 0.25),
    p75: at(sorted, 0.75),
  };
}

/** `41 (38 to 47)` */
export function quartilesText({ median, p25, p75 }: Quartiles, digits = 0): string {
  const [middle, low, high] = [median, p25, p75].map((value) => value.toFixed(digits));
  return `${middle} (${low} to ${high})`;
}

/** Between the two neighbours of the place, by how near it is to each. */
function at(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}
