import type { Difference } from './contract.ts';

/** At most so many are described. */
const MOST_DESCRIBED = 100;

/** What is amiss, counted, and the first of it described. */
export class Differences {
  readonly described: Difference[] = [];
  count = 0;

  add(difference: () => Difference): void {
    this.count += 1;
    if (!this.isFull) this.described.push(difference());
  }

  /** What is found from now on is only counted. */
  get isFull(): boolean {
    return this.described.length >= MOST_DESCRIBED;
  }
}
