import type { Difference } from './contract.ts';

/** An inspection describes at most this many differences: changes wait until it is done. */
const MOST_DESCRIBED = 100;

/** Counts differences, and describes the first ones. */
export class Differences {
  readonly described: Difference[] = [];
  count = 0;
  readonly #most: number;

  constructor(most = MOST_DESCRIBED) {
    this.#most = most;
  }

  /** Describes all of them, for output on request. */
  static ofAll(): Differences {
    return new Differences(Number.POSITIVE_INFINITY);
  }

  add(difference: () => Difference): void {
    this.count += 1;
    if (!this.isFull) this.described.push(difference());
  }

  /** Further differences are only counted. */
  get isFull(): boolean {
    return this.described.length >= this.#most;
  }
}
