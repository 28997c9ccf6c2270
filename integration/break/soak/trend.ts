import { median } from '../../../lab/host/spread.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A line through points, and between which slopes the true one is, 95 times in 100. */
export interface Trend {
  readonly slope: number;
  readonly least: number;
  readonly most: number;
  /** At x = 0. */
  readonly intercept: number;
}

/** How many standard deviations on both sides hold 95 of 100. */
const SURE = 1.96;

/**
 * Theil and Sen: the median of the slopes between all pairs. One burst does not tilt it, and its
 * confidence comes from ranks (Kendall's), whatever the noise is distributed like. Points that follow each
 * other closely are not independent: give it values of blocks.
 */
export function trendOf(points: readonly Point[]): Trend {
  const slopes: number[] = [];
  for (const [index, a] of points.entries()) {
    for (const b of points.slice(index + 1)) slopes.push((b.y - a.y) / (b.x - a.x));
  }
  slopes.sort((a, b) => a - b);
  const count = points.length;
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const reach = SURE * deviation;
  const at = (rank: number): number => {
    return slopes[Math.min(slopes.length - 1, Math.max(0, Math.round(rank)))] ?? Number.NaN;
  };
  const slope = median(slopes);
  return {
    slope,
    least: at((slopes.length - reach) / 2 - 1),
    most: at((slopes.length + reach) / 2),
    intercept: median(points.map(({ x, y }) => y - slope * x)),
  };
}

/** One value for each of so many successive parts: `of` takes those of the part. */
export function inBlocks(
  points: readonly Point[],
  { count, of }: { readonly count: number; readonly of: (values: readonly number[]) => number },
): Point[] {
  const size = points.length / count;
  return Array.from({ length: count }, (_, index) => {
    const block = points.slice(Math.floor(index * size), Math.floor((index + 1) * size));
    return { x: median(block.map(({ x }) => x)), y: of(block.map(({ y }) => y)) };
  }).filter(({ x }) => Number.isFinite(x));
}
