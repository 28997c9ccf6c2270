const TRIES = 12;

/**
 * How many times longer the large work takes. The two alternate and the best of each counts, so
 * that what else the machine does, the collector or the compiler, counts little.
 */
export function growth(of: { readonly small: () => void; readonly large: () => void }): number {
  const best = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
  for (let i = 0; i < TRIES; i++) {
    best.small = Math.min(best.small, tookMs(of.small));
    best.large = Math.min(best.large, tookMs(of.large));
  }
  return best.large / best.small;
}

function tookMs(work: () => void): number {
  const startedAtMs = performance.now();
  work();
  return performance.now() - startedAtMs;
}
