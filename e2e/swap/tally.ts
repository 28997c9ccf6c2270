/** What the client in the pod prints: see pods/client.ts. */
export interface Bucket {
  readonly at: number;
  readonly target: string;
  readonly attempted: number;
  readonly answered: number;
  readonly slowestMs: number;
  readonly failures: readonly string[];
}

/** A period of one step, or between two. */
export interface Phase {
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

export interface Tally {
  readonly target: string;
  readonly attempted: number;
  readonly failed: number;
  readonly slowestMs: number;
  /** How the first of them failed. */
  readonly firstFailure: string;
}

export interface PhaseResult extends Phase {
  readonly tallies: readonly Tally[];
}

/** The last line may be half written. */
export function parseBuckets(text: string): Bucket[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Bucket);
}

export function tallyPhases(phases: readonly Phase[], buckets: readonly Bucket[]): PhaseResult[] {
  const targets = [...new Set(buckets.map((bucket) => bucket.target))].sort();
  return phases.map((phase) => {
    const during = buckets.filter(({ at }) => at >= phase.from && at < phase.to);
    const tallies = targets.map((target) =>
      tally(
        target,
        during.filter((bucket) => bucket.target === target),
      ),
    );
    return { ...phase, tallies };
  });
}

function tally(target: string, buckets: readonly Bucket[]): Tally {
  const sum = (of: (bucket: Bucket) => number): number =>
    buckets.reduce((total, bucket) => total + of(bucket), 0);
  const failures = buckets.flatMap((bucket) => bucket.failures);
  return {
    target,
    attempted: sum((bucket) => bucket.attempted),
    failed: failures.length,
    slowestMs: Math.max(0, ...buckets.map((bucket) => bucket.slowestMs)),
    firstFailure: failures[0] ?? '',
  };
}

export function failureCount(results: readonly PhaseResult[]): number {
  return results.flatMap(({ tallies }) => tallies).reduce((total, { failed }) => total + failed, 0);
}
