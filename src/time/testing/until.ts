import { setTimeout as delay } from 'node:timers/promises';

const DEADLINE_MS = 10_000;
const EVERY_MS = 2;

/** Polls a condition; throws with its name when it does not hold before the deadline. */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  deadlineMs = DEADLINE_MS,
): Promise<void> {
  const giveUpAt = performance.now() + deadlineMs;
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) throw new Error(`gave up waiting for: ${what}`);
    await delay(EVERY_MS);
  }
}
