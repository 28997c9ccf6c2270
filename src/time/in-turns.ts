import { setImmediate as nextIteration } from 'node:timers/promises';

/** Work that can be paused, to its end: other work has the event loop after each `most` of what it yields. */
export async function inTurns<Result>(
  work: Generator<number, Result, void>,
  most: number,
): Promise<Result> {
  for (let handled = 0; ; ) {
    const { done, value } = work.next();
    if (done === true) return value;
    handled += value;
    if (handled < most) continue;
    handled = 0;
    await nextIteration();
  }
}
