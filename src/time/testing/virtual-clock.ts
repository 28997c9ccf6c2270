import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

interface Sleeper {
  readonly untilMs: number;
  readonly wake: () => void;
}

/** After so many idle event loop iterations only a timer can make progress. */
const IDLE_ITERATIONS = 64;
const MOST_ITERATIONS = 1_000_000;

/** A clock that jumps to the next timer as soon as nothing else can run. */
export class VirtualClock implements Clock {
  #monotonicMs = 1_000_000;
  #wallAheadMs = 1_700_000_000_000;
  readonly #sleepers = new Set<Sleeper>();

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

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const sleeper = { untilMs: this.#monotonicMs + ms, wake: () => resolve() };
    this.#sleepers.add(sleeper);
    signal.addEventListener('abort', sleeper.wake, { once: true });
    await promise;
    signal.removeEventListener('abort', sleeper.wake);
    this.#sleepers.delete(sleeper);
  }

  /** Runs everything that needs no timer. */
  async settle(): Promise<void> {
    for (let iterations = 0; iterations < IDLE_ITERATIONS; iterations++) await nextIteration();
  }

  /** Advances by this much, and runs every timer due in between. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#monotonicMs + ms;
    await this.settle();
    for (
      let next = this.#next();
      next !== undefined && next.untilMs <= endMs;
      next = this.#next()
    ) {
      this.#jumpTo(next);
      await this.settle();
    }
    this.#monotonicMs = endMs;
  }

  /** Advances until the condition holds; throws with its name when it never does. */
  async until(what: string, isTrue: () => boolean): Promise<void> {
    for (let iterations = 1; !isTrue(); iterations++) {
      if (iterations > MOST_ITERATIONS) throw new Error(`gave up waiting for: ${what}`);
      await nextIteration();
      const next = this.#next();
      if (iterations % IDLE_ITERATIONS === 0 && next !== undefined) this.#jumpTo(next);
    }
  }

  #next(): Sleeper | undefined {
    return [...this.#sleepers].sort((a, b) => a.untilMs - b.untilMs)[0];
  }

  #jumpTo({ untilMs, wake }: Sleeper): void {
    this.#monotonicMs = Math.max(this.#monotonicMs, untilMs);
    wake();
  }
}
