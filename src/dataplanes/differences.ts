import type { Difference } from './contract.ts';

/** An inspection describes at most so many: it runs beside changes that wait for it. */
const MOST_DESCRIBED = 100;

/** What is amiss, counted, and the first of it described. */
export class Differences {
  readonly described: Difference[] = [];
  count = 0;
  readonly #most: number;

  constructor(most = MOST_DESCRIBED) {
    this.#most = most;
  }

  /** For a person who asks for all of them. */
  static ofAll(): Differences {
    return new Differences(Number.POSITIVE_INFINITY);
  }

  add(difference: () => Difference): void {
    this.count += 1;
    if (!this.isFull) this.described.push(difference());
  }

  /** What is found from now on is only counted. */
  get isFull(): boolean {
    return this.described.length >= this.#most;
  }
}
