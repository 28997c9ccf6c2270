import type { Drift } from '../dataplanes/contract.ts';

const KEPT = 10;

/** What others did to what is ours. */
export class DriftLog {
  readonly #last: Drift[] = [];
  #count = 0;

  note(drift: Drift): void {
    this.#count++;
    this.#last.push(drift);
    if (this.#last.length > KEPT) this.#last.shift();
  }

  get count(): number {
    return this.#count;
  }

  /** The last ten, the newest last. */
  get last(): readonly Drift[] {
    return [...this.#last];
  }
}
