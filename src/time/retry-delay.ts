const FIRST_MS = 200;

/** Uniform in [0, 1). */
export type Random = () => number;

/** How long to wait after this many failures in a row: doubles up to a limit, with jitter. */
export function retryDelayMs(
  attempts: number,
  limits: { readonly mostMs: number; readonly random: Random },
): number {
  const ceilingMs = Math.min(FIRST_MS * 2 ** Math.min(attempts - 1, 30), limits.mostMs);
  return ceilingMs * (0.5 + limits.random() / 2);
}
