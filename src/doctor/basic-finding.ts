/**
 * `ok`: as it should be. `note`: works, but not for everybody or not for long. `problem`: breaks
 * Services, or a change that others wait for. `unasked`: could not be asked.
 */
export type Level = 'ok' | 'note' | 'problem' | 'unasked';

/** What every check says, here and in wings. */
export interface BasicFinding {
  readonly level: Level;
  /** The thing and its value, such as `net.ipv4.ip_forward = 0`. */
  readonly what: string;
  /** What to do. Absent where all is well. */
  readonly next?: string;
}

export const good = (what: string): BasicFinding => ({ level: 'ok', what });

export const problem = (what: string, next?: string): BasicFinding => ({
  level: 'problem',
  what,
  ...(next === undefined ? {} : { next }),
});

export function ofLevel<Found extends BasicFinding>(
  level: Level,
  findings: readonly Found[],
): readonly Found[] {
  return findings.filter((each) => each.level === level);
}
