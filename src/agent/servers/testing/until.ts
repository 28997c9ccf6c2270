import { setTimeout as delay } from 'node:timers/promises';

const DEADLINE_MS = 10_000;
const EVERY_MS = 2;

/** Waits for a condition, and fails with its name when it does not come true in time. */
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
