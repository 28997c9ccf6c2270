import type { PastPoint, ViewTick } from './protocol/tick.ts';

const MOST_POINTS = 120;

/** Totals of the last ticks, for a page that is opened later. */
export class Past {
  #points: PastPoint[] = [];

  add({ atMs, totals, propagation }: ViewTick): void {
    const { newPerSecond, rejectedPerSecond, droppedPerSecond } = totals;
    this.#points.push({
      atMs,
      ...(newPerSecond === undefined ? {} : { newPerSecond }),
      ...(rejectedPerSecond === undefined ? {} : { rejectedPerSecond }),
      ...(droppedPerSecond === undefined ? {} : { droppedPerSecond }),
      ...(propagation === undefined ? {} : { p50Ms: propagation.p50Ms }),
    });
    this.#points = this.#points.slice(-MOST_POINTS);
  }

  points(): readonly PastPoint[] {
    return this.#points;
  }
}
