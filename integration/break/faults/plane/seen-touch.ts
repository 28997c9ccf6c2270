import { until } from '../../../../lab/host/until.ts';

const DEADLINE_MS = 20_000;
/** What repairs tells of it right afterwards. */
const TOLD_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 10;

/** A node that somebody touches. */
export interface TouchedNode {
  /** Differences between the kernel and what is wanted. */
  differences(): Promise<readonly string[]>;
  becomesRight(deadlineMs: number): Promise<unknown>;
  /** How often the proxy has noticed somebody else, since its start. */
  driftCount(): Promise<number>;
}

export interface SeenTouch {
  readonly seen: string;
  readonly tookMs: number;
}

/**
 * Touches, and waits until all is right again. Rejects when nothing shows that the touch did anything:
 * neither a difference nor, where it was repaired before anybody could look, the word of the proxy.
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
