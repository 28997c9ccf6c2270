export interface Point {
  readonly x: number;
  readonly y: number;
}

/** y = base + perX * x. */
export interface Line {
  readonly base: number;
  readonly perX: number;
  /** The part of the variance of y that it explains: 1 if all points are on it. */
  readonly explains: number;
}

/** The line of least squares. Undefined with fewer than three points, which any line would fit. */
export function lineThrough(points: readonly Point[]): Line | undefined {
  if (points.length < 3) return undefined;
  const mean = (of: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const meanX = mean(({ x }) => x);
  const meanY = mean(({ y }) => y);
  const spreadX = mean(({ x }) => (x - meanX) ** 2);
  const spreadY = mean(({ y }) => (y - meanY) ** 2);
  if (spreadX === 0) return undefined;
  const together = mean(({ x, y }) => (x - meanX) * (y - meanY));
  const perX = together / spreadX;
  const explains = spreadY === 0 ? 1 : together ** 2 / (spreadX * spreadY);
  return { base: meanY - perX * meanX, perX, explains };
}

export function atX({ base, perX }: Line, x: number): number {
  return base + perX * x;
}
