import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

/** A clock on which every sleep ends at once, and which records how long each was. */
export class InstantClock implements Clock {
  readonly sleptMs: number[] = [];
  /** When set, a sleep lasts until its signal aborts. */
  isHeld = false;
  #monotonicMs = 1_000_000;
  #wallAheadMs = 1_700_000_000_000;

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  wallMs(): number {
    return this.#monotonicMs + this.#wallAheadMs;
  }

  /** Sets the wall clock; the monotonic clock stays. */
  jumpWall(byMs: number): void {
    this.#wallAheadMs += byMs;
  }

  advance(ms: number): void {
    this.#monotonicMs += ms;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.sleptMs.push(ms);
    if (this.isHeld && !signal.aborted) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return;
    }
    this.#monotonicMs += ms;
    await nextIteration();
  }
}
