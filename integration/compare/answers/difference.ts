/** A line of an asker. */
export interface Answer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MOST_LINES = 6;

/** The first lines of each stream that are not the same. */
export function differenceOf(before: Answer, now: Answer): string {
  const exit = `  exit code ${before.exitCode}, now ${now.exitCode}`;
  return [
    ...(before.exitCode === now.exitCode ? [] : [exit]),
    ...firstDifferent(before.stdout.split('\n'), now.stdout.split('\n')),
    ...firstDifferent(before.stderr.split('\n'), now.stderr.split('\n')),
  ].join('\n');
}

function firstDifferent(before: readonly string[], now: readonly string[]): readonly string[] {
  const longer = before.length > now.length ? before : now;
  const from = longer.findIndex((_, index) => before[index] !== now[index]);
  if (from === -1) return [];
  const some = (lines: readonly string[], sign: string) =>
    lines.slice(from, from + MOST_LINES).map((line) => `  ${sign} ${line}`);
  return [`  line ${from + 1}:`, ...some(before, '-'), ...some(now, '+')];
}
