import { median } from '../../lab/host/spread.ts';
import { lineThrough, type Point } from './line.ts';

/** A median, and how far apart the smallest and the largest are. */
export interface Spread {
  readonly count: number;
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Undefined without values. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  return {
    count: values.length,
    median: median(values),
    least: Math.min(...values),
    most: Math.max(...values),
  };
}

/** How many standard deviations on both sides hold 95 of 100. */
const SURE = 1.96;

/**
 * The median, and between which two values that of endlessly many would be, 95 times in 100. By
 * ranks alone, whatever the values are distributed like.
 */
export function sureOf(values: readonly number[]): Spread | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const reach = (SURE * Math.sqrt(sorted.length)) / 2;
  const least = sorted[Math.max(0, Math.floor(half - reach) - 1)];
  const most = sorted[Math.min(sorted.length - 1, Math.ceil(half + reach))];
  if (least === undefined || most === undefined) return undefined;
  return { count: sorted.length, median: median(sorted), least, most };
}

/**
 * The power of x with which y grows: the slope of a line through the logarithms. Undefined with
 * fewer than three points, through which any line could be drawn.
 */
export function exponentOf(points: readonly Point[]): number | undefined {
  return lineThrough(points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) })))?.perX;
}
