import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../cluster/clock.ts';

interface Sleeper {
  readonly untilMs: number;
  readonly wake: () => void;
}

/** After so many turns of the event loop without news only time can bring some. */
const TURNS_OF_QUIET = 64;
const MOST_TURNS = 1_000_000;

/** Time that passes when nothing else happens, and then at once. */
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

  /** Sets the wall clock; no time passes. */
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

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < TURNS_OF_QUIET; turns++) await turn();
  }

  /** Lets so much time pass, and everything happen in it. */
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

  /** Lets time pass until the condition holds; fails with its name when it never does. */
  async until(what: string, isTrue: () => boolean): Promise<void> {
    for (let turns = 1; !isTrue(); turns++) {
      if (turns > MOST_TURNS) throw new Error(`gave up waiting for: ${what}`);
      await turn();
      const next = this.#next();
      if (turns % TURNS_OF_QUIET === 0 && next !== undefined) this.#jumpTo(next);
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
