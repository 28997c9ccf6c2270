import type { BasicFinding } from './basic-finding.ts';

/** One question, about whatever the context is. */
export interface Check<Context, Found extends BasicFinding = BasicFinding> {
  /** As the table of results and the JSON name it. */
  readonly name: string;
  run(context: Context): Promise<readonly Found[]>;
}

/** Where a finding comes from. */
export interface Checked {
  readonly check: string;
}

export interface Conduct<Found> {
  /** For each check. */
  readonly deadlineMs: number;
  /** What is said of a check that gives no answer until then. */
  late(name: string): Found;
  /** What is said of a check that fails. */
  failed(name: string, error: unknown): Found;
  /** Gets those that run for longer than a person waits in silence. */
  onSlow?(names: readonly string[]): void;
}

const SLOW_MS = 1_000;

/** Runs all checks together. One that fails or takes too long does not stop the others. */
export async function runChecks<Context, Found extends BasicFinding>(
  checks: readonly Check<Context, Found>[],
  context: Context,
  conduct: Conduct<Found>,
): Promise<readonly (Found & Checked)[]> {
  const running = new Set(checks.map(({ name }) => name));
  const slow = setTimeout(() => conduct.onSlow?.([...running]), SLOW_MS);
  try {
    const results = await Promise.all(
      checks.map(async (check) => {
        const findings = await runOne(check, context, conduct);
        running.delete(check.name);
        return findings.map((finding) => ({ check: check.name, ...finding }));
      }),
    );
    return results.flat();
  } finally {
    clearTimeout(slow);
  }
}

async function runOne<Context, Found extends BasicFinding>(
  check: Check<Context, Found>,
  context: Context,
  { deadlineMs, late, failed }: Conduct<Found>,
): Promise<readonly Found[]> {
  const { promise, resolve } = Promise.withResolvers<readonly Found[]>();
  const timer = setTimeout(() => resolve([late(check.name)]), deadlineMs);
  try {
    return await Promise.race([check.run(context), promise]);
  } catch (error) {
    return [failed(check.name, error)];
  } finally {
    clearTimeout(timer);
  }
}
