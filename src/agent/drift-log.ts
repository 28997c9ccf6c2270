import type { Drift } from '../dataplanes/contract.ts';

const KEPT = 10;

export interface SeenDrift extends Drift {
  /** On the monotonic clock; in a snapshot, milliseconds since 1970. */
  readonly atMs: number;
}

/** The last changes by other processes, and failures of our own, which are not counted. */
export class DriftLog {
  readonly #last: SeenDrift[] = [];
  #count = 0;
  #lastExternal: SeenDrift | undefined;

  note(drift: SeenDrift): void {
    if (!drift.isOwn) {
      this.#count++;
      this.#lastExternal = drift;
    }
    this.#last.push(drift);
    if (this.#last.length > KEPT) this.#last.shift();
  }

  get count(): number {
    return this.#count;
  }

  /** The last one by another process. */
  get lastExternal(): SeenDrift | undefined {
    return this.#lastExternal;
  }

  /** The last ten, the newest last. */
  get last(): readonly SeenDrift[] {
    return [...this.#last];
  }
}
