import { until } from '../../../../lab/host/until.ts';

const DEADLINE_MS = 20_000;
/** The proxy reports drift right after the repair. */
const TOLD_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 10;

/** A node whose kernel state another process modifies. */
export interface TouchedNode {
  /** Differences between the kernel and what is wanted. */
  differences(): Promise<readonly string[]>;
  becomesRight(deadlineMs: number): Promise<unknown>;
  /** Drifts that the proxy has detected since its start. */
  driftCount(): Promise<number>;
}

export interface SeenTouch {
  readonly seen: string;
  readonly tookMs: number;
}

/**
 * Modifies the kernel state, and waits until it is repaired. Rejects if the change had no visible
 * effect: no difference and, if it was repaired before the comparison, no drift counted by the proxy.
 */
export async function touchAndSee(node: TouchedNode, touch: () => void): Promise<SeenTouch> {
  const before = await node.driftCount();
  const from = performance.now();
  touch();
  const [difference] = await node.differences();
  await node.becomesRight(DEADLINE_MS);
  const tookMs = performance.now() - from;
  if (difference !== undefined) return { seen: difference, tookMs };
  const isTold = async (): Promise<boolean> => (await node.driftCount()) > before;
  const what = 'a difference, or a drift that the proxy has noticed: the touch did nothing';
  await until(isTold, { what, deadlineMs: TOLD_WITHIN_MS, everyMs: LOOK_EVERY_MS });
  return { seen: 'repaired before the first comparison', tookMs };
}
