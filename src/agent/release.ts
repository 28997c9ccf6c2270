import type { DataPlane } from '../dataplanes/contract.ts';
import type { Clock } from '../time/clock.ts';
import type { Context } from './context.ts';

/** Releasing takes milliseconds; waiting for open connections is `drained`. */
const DEADLINE_MS = 25_000;

/** Tells the plane that the agent ends. Its failure is logged: there is no later attempt. */
export async function releasePlane(parts: {
  readonly plane: DataPlane;
  readonly clock: Clock;
  readonly log: Context['log'];
}): Promise<void> {
  const { plane, clock, log } = parts;
  if (plane.release === undefined) return;
  const late = new AbortController();
  try {
    const inTime = plane.release().then(() => true);
    const isReleased = await Promise.race([
      inTime,
      clock.sleep(DEADLINE_MS, late.signal).then(() => false),
    ]);
    if (!isReleased) log.warn({ seconds: DEADLINE_MS / 1000 }, 'releasing the data plane hangs');
  } catch (error) {
    log.warn(`cannot release the data plane: ${String(error)}`);
  } finally {
    late.abort();
  }
}
