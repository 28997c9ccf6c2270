import { startStopwatch, takenShare } from '../questions/stopwatch.ts';
import { DISTURBED_SHARE, MOST_RUNS } from '../runner/disturbed.ts';
import type { Verdict } from './stage.ts';

/** Starts to measure; what it gives tells the share of the processors that the host took since. */
export type MeasureTaken = () => () => number;

function ofThisMachine(): () => number {
  const lapse = startStopwatch();
  return () => takenShare(lapse());
}

/**
 * Plays a sabotage again that was missed while the host had the processors: what is 300 ms late is in time
 * for a question that comes half a second late. A judge that is blind misses it every time. The runs that do
 * not count stay in the reason.
 */
export async function playUntilCounted(
  play: () => Promise<Verdict>,
  measureTaken: MeasureTaken = ofThisMachine,
): Promise<Verdict> {
  const missed: string[] = [];
  for (let run = 1; ; run++) {
    const taken = measureTaken();
    const verdict = await play();
    const share = taken();
    if (verdict.caught || share < DISTURBED_SHARE || run === MOST_RUNS) {
      return { ...verdict, reason: [verdict.reason, ...missed].join('; ') };
    }
    missed.push(`run ${run} missed it while the host took ${Math.round(100 * share)} %`);
  }
}
