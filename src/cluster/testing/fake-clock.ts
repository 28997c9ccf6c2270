import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

/** A clock on which no wait takes any time, and which remembers what was waited for. */
export class FakeClock implements Clock {
  readonly sleptMs: number[] = [];
  /** From now on who sleeps does so until it is aborted. */
  isHeld = false;
  #nowMs = 1_000_000;

  nowMs(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.sleptMs.push(ms);
    if (this.isHeld && !signal.aborted) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return;
    }
    this.#nowMs += ms;
    await turn();
  }
}
