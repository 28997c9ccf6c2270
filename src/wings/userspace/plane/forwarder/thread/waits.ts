import { DeadlineQueue } from './deadline-queue.ts';
import type { Pair } from './pair.ts';

/** For the first, second and third endpoint. */
const DIAL_MS = [300, 1_000, 3_000] as const;
/** Where no other endpoint is left. */
const LAST_CANDIDATE_MS = 10_000;
/** For the main thread, which answers at once, or for a descriptor. */
const ANSWER_MS = 5_000;
/** Rows reach nftables and the forwarder milliseconds apart: a frontend that is unknown may come. */
const ROW_MS = 20;
/** Most connections are shorter, and need no probes. */
const YOUNG_MS = 60_000;
const LONGEST_MS = 60_000;

/** What pairs wait for, with a deadline for each. */
export class Waits {
  readonly #dials = DIAL_MS.map((ms) => new DeadlineQueue(ms));
  readonly #lastCandidate = new DeadlineQueue(LAST_CANDIDATE_MS);
  readonly #answers = new DeadlineQueue(ANSWER_MS);
  readonly #rows = new DeadlineQueue(ROW_MS);
  readonly #young = new DeadlineQueue(YOUNG_MS);
  readonly #halfClosed: DeadlineQueue;

  constructor(halfClosedMs: number) {
    this.#halfClosed = new DeadlineQueue(halfClosedMs);
  }

  whileDialling(pair: Pair, isLastCandidate: boolean, nowMs: number): void {
    const queue = isLastCandidate ? this.#lastCandidate : this.#dials[pair.dialCount - 1];
    (queue ?? this.#lastCandidate).add(pair, nowMs);
  }

  forAnswer(pair: Pair, nowMs: number): void {
    this.#answers.add(pair, nowMs);
  }

  forRow(pair: Pair, nowMs: number): void {
    this.#rows.add(pair, nowMs);
  }

  whileYoung(pair: Pair, nowMs: number): void {
    this.#young.add(pair, nowMs);
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
  handleLate(askedAtMs: number, on: LateHandlers): void {
    for (const queue of this.#dials) handle(queue, askedAtMs, on.dial);
    handle(this.#lastCandidate, askedAtMs, on.dial);
    handle(this.#answers, askedAtMs, on.answer);
    handle(this.#rows, askedAtMs, on.row);
    handle(this.#young, askedAtMs, on.old);
    handle(this.#halfClosed, askedAtMs, on.halfClosed);
  }

  /** How long epoll may wait, in whole milliseconds and never too short. */
  timeoutMs(nowMs: number): number {
    let nextMs = Math.min(
      this.#lastCandidate.nextMs(),
      this.#answers.nextMs(),
      this.#rows.nextMs(),
      this.#young.nextMs(),
      this.#halfClosed.nextMs(),
      nowMs + LONGEST_MS,
    );
    for (const queue of this.#dials) nextMs = Math.min(nextMs, queue.nextMs());
    return Math.max(Math.ceil(nextMs - nowMs), 0);
  }
}

export interface LateHandlers {
  readonly dial: (pair: Pair) => void;
  readonly answer: (pair: Pair) => void;
  /** Its frontend may be known now. */
  readonly row: (pair: Pair) => void;
  /** Open for a minute. */
  readonly old: (pair: Pair) => void;
  /** One side has been at its end for a while. */
  readonly halfClosed: (pair: Pair) => void;
}

function handle(queue: DeadlineQueue, atMs: number, on: (pair: Pair) => void): void {
  for (let pair = queue.takeLate(atMs); pair !== undefined; pair = queue.takeLate(atMs)) on(pair);
}
