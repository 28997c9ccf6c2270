const MOST_LINES = 24;
const STATISTICS = /^(processed \d+ insns|verification time|stack depth|mark_precise:|max_states)/;
const CODE = /^\d+: \(/;
const SOURCE = /^; /;

/** Extracts the reason from a verifier log. */
export interface Refusal {
  /** Why: its last sentence. */
  readonly reason: string;
  /** The source line that it was at, if it knew. */
  readonly source: string | undefined;
  /** The last instructions, with the source lines that they are of. */
  readonly excerpt: string;
}

export function readVerifierLog(log: string): Refusal {
  const lines = log
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !STATISTICS.test(line));
  const reason = lines.findLast((line) => !CODE.test(line) && !SOURCE.test(line)) ?? '';
  const source = lines.findLast((line) => SOURCE.test(line))?.replace(SOURCE, '');
  return { reason, source, excerpt: lines.slice(-MOST_LINES).join('\n') };
}
