import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

/** A clock on which no wait takes any time, and which remembers what was waited for. */
export class FakeClock implements Clock {
  readonly sleptMs: number[] = [];
  /** From now on who sleeps does so until it is aborted. */
  isHeld = false;
  #monotonicMs = 1_000_000;
  #wallAheadMs = 1_700_000_000_000;

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  wallMs(): number {
    return this.#monotonicMs + this.#wallAheadMs;
  }

  /** Sets the wall clock; no time passes. */
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
    await turn();
  }
}
