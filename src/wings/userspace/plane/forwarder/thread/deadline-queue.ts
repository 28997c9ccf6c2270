import type { Pair } from './pair.ts';

/**
 * Pairs that wait equally long, in the order in which they began: only the first can be late. A
 * pair is in one queue at most; entering and leaving cost no allocation.
 */
export class DeadlineQueue {
  readonly deadlineMs: number;
  #first: Pair | undefined = undefined;
  #last: Pair | undefined = undefined;

  constructor(deadlineMs: number) {
    this.deadlineMs = deadlineMs;
  }

  add(pair: Pair, nowMs: number): void {
    pair.queue?.remove(pair);
    pair.queue = this;
    pair.queuedAtMs = nowMs;
    pair.before = this.#last;
    if (this.#last === undefined) this.#first = pair;
    else this.#last.after = pair;
    this.#last = pair;
  }

  remove(pair: Pair): void {
    if (pair.queue !== this) return;
    if (pair.before === undefined) this.#first = pair.after;
    else pair.before.after = pair.after;
    if (pair.after === undefined) this.#last = pair.before;
    else pair.after.before = pair.before;
    pair.before = undefined;
    pair.after = undefined;
    pair.queue = undefined;
  }

  /** Removes and returns the first one that was late at that time. */
  takeLate(atMs: number): Pair | undefined {
    const first = this.#first;
    if (first === undefined || atMs - first.queuedAtMs < this.deadlineMs) return undefined;
    this.remove(first);
    return first;
  }

  /** When the first one will be late; Infinity: none waits. */
  nextMs(): number {
    return this.#first === undefined
      ? Number.POSITIVE_INFINITY
      : this.#first.queuedAtMs + this.deadlineMs;
  }

  /** `pair` may leave the queue while it is visited. */
  forEach(visit: (pair: Pair) => void): void {
    for (let pair = this.#first; pair !== undefined; ) {
      const { after } = pair;
      visit(pair);
      pair = after;
    }
  }
}
