const FEWEST_TRIES = 5;
const MOST_TRIES = 60;

/**
 * How many times longer the large work takes. The two alternate and the best of each counts, so
 * that the collector, the compiler and other processes count little; it goes on trying while the
 * answer is above `expected`.
 */
export function growth(of: {
  readonly small: () => void;
  readonly large: () => void;
  readonly expected: number;
}): number {
  const best = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
  const ratio = () => best.large / best.small;
  for (let i = 0; i < MOST_TRIES && (i < FEWEST_TRIES || ratio() > of.expected); i++) {
    best.small = Math.min(best.small, tookMs(of.small));
    best.large = Math.min(best.large, tookMs(of.large));
  }
  return ratio();
}

function tookMs(work: () => void): number {
  const startedAtMs = performance.now();
  work();
  return performance.now() - startedAtMs;
}
