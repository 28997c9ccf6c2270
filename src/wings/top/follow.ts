import type { GroupedBy } from '../../commands/groupings.ts';
import type { Clock } from '../../time/clock.ts';
import type { Tick } from './figures.ts';
import type { TrafficWatch } from './watch.ts';

/** Where ticks go. */
export interface Output extends Disposable {
  /** Rows that it has room for now. */
  readonly rows: number;
  show(tick: Tick): void;
}

export interface Following {
  readonly watch: TrafficWatch;
  readonly output: Output;
  readonly by: GroupedBy;
  readonly intervalMs: number;
  readonly isOnce: boolean;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly signal: AbortSignal;
}

/** Shows a tick after each interval, until the signal is aborted; with `isOnce` the first one only. */
export async function follow(following: Following): Promise<void> {
  const { watch, output, by, intervalMs, clock, signal } = following;
  await orAborted(signal, () => watch.begin());
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal);
    if (signal.aborted) return;
    const tick = await orAborted(signal, () => watch.tick(by, output.rows));
    if (tick === undefined) return;
    output.show(tick);
    if (following.isOnce) return;
  }
}

/** Undefined: what failed was only cut short. */
async function orAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
