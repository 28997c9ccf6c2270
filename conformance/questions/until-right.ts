import { setTimeout as delay } from 'node:timers/promises';

const BETWEEN_ATTEMPTS_MS = 100;

/**
 * Asks until nothing is wrong or the granted time has passed; undefined, or what was wrong
 * at the last attempt. With no time granted the first answer counts.
 */
export async function untilRight(
  ask: () => Promise<string | undefined>,
  granted: {
    readonly withinMs: number;
    /** Whether the answer can be another one the next time; it can when not given. */
    readonly mayChange?: () => boolean;
  },
): Promise<string | undefined> {
  const giveUpAtMs = performance.now() + granted.withinMs;
  for (;;) {
    const fault = await ask();
    const isLast = performance.now() >= giveUpAtMs || granted.mayChange?.() === false;
    if (fault === undefined || isLast) return fault;
    await delay(BETWEEN_ATTEMPTS_MS);
  }
}
