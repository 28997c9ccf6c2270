import type { Pair } from './pair.ts';

/** For the first, second and third endpoint. */
const DIAL_MS = [300, 1_000, 3_000] as const;
/** Where no other endpoint is left. */
const LAST_CANDIDATE_MS = 10_000;
/** For the main thread, which answers at once. */
const ANSWER_MS = 5_000;
/** Rows reach nftables and the forwarder milliseconds apart: a frontend that is unknown may come. */
const RETRY_MS = 20;
/** Most connections are shorter, and need no probes. */
const YOUNG_MS = 60_000;
const LONGEST_MS = 60_000;

export interface LateHandlers {
  readonly dial: (pair: Pair) => void;
  readonly answer: (pair: Pair) => void;
  /** There may be a frontend or a descriptor for it now. */
  readonly retry: (pair: Pair) => void;
  /** Open for a minute. */
  readonly old: (pair: Pair) => void;
  /** One side has been at its end for a while. */
  readonly halfClosed: (pair: Pair) => void;
}

/** What pairs wait for, with a deadline for each. */
export class Waits {
  readonly #dials: readonly DeadlineQueue[];
  readonly #lastCandidate: DeadlineQueue;
  readonly answers: DeadlineQueue;
  readonly retries: DeadlineQueue;
  readonly young: DeadlineQueue;
  readonly #halfClosed: DeadlineQueue;
  readonly #all: readonly DeadlineQueue[];

  constructor(halfClosedMs: number, on: LateHandlers) {
    this.#dials = DIAL_MS.map((ms) => new DeadlineQueue(ms, on.dial));
    this.#lastCandidate = new DeadlineQueue(LAST_CANDIDATE_MS, on.dial);
    this.answers = new DeadlineQueue(ANSWER_MS, on.answer);
    this.retries = new DeadlineQueue(RETRY_MS, on.retry);
    this.young = new DeadlineQueue(YOUNG_MS, on.old);
    this.#halfClosed = new DeadlineQueue(halfClosedMs, on.halfClosed);
    const others = [this.#lastCandidate, this.answers, this.retries, this.young];
    this.#all = [...this.#dials, ...others, this.#halfClosed];
  }

  whileDialling(pair: Pair, isLastCandidate: boolean, nowMs: number): void {
    const queue = isLastCandidate ? this.#lastCandidate : this.#dials[pair.dialCount - 1];
    (queue ?? this.#lastCandidate).add(pair, nowMs);
  }

  whileHalfClosed(pair: Pair, nowMs: number): void {
    pair.seenByteCount = pair.byteCount;
    this.#halfClosed.add(pair, nowMs);
  }

  /** `visit` may dial again. */
  forEachDialling(visit: (pair: Pair) => void): void {
    for (const queue of [...this.#dials, this.#lastCandidate]) queue.forEach(visit);
  }

  /**
   * Those that were late when the kernel was last asked for events. A later time would blame
   * endpoints for the time that this thread got no CPU.
   */
  handleLate(askedAtMs: number): void {
    for (const queue of this.#all) queue.handleLate(askedAtMs);
  }

  /** How long epoll may wait, in whole milliseconds and never too short. */
  timeoutMs(nowMs: number): number {
    let nextMs = nowMs + LONGEST_MS;
    for (const queue of this.#all) nextMs = Math.min(nextMs, queue.nextMs());
    return Math.max(Math.ceil(nextMs - nowMs), 0);
  }
}

/**
 * Pairs that wait equally long, in the order in which they began: only the first can be late. A
 * pair is in one queue at most; entering and leaving cost no allocation.
 */
class DeadlineQueue {
  readonly #deadlineMs: number;
  readonly #onLate: (pair: Pair) => void;
  #first: Pair | undefined = undefined;
  #last: Pair | undefined = undefined;

  constructor(deadlineMs: number, onLate: (pair: Pair) => void) {
    this.#deadlineMs = deadlineMs;
    this.#onLate = onLate;
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

  /** Those that were late at that time leave the queue first. */
  handleLate(atMs: number): void {
    for (let first = this.#first; first !== undefined; first = this.#first) {
      if (atMs - first.queuedAtMs < this.#deadlineMs) return;
      this.remove(first);
      this.#onLate(first);
    }
  }

  /** When the first one will be late; Infinity: none waits. */
  nextMs(): number {
    if (this.#first === undefined) return Number.POSITIVE_INFINITY;
    return this.#first.queuedAtMs + this.#deadlineMs;
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
