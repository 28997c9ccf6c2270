/** Without an answer of another for so long, those that wait are all there is. */
const STANDSTILL_MS = 2_000;

interface Waiting {
  readonly count: number;
  readonly go: () => void;
}

/**
 * What makes a server slow relative to others, whatever the speed of the machine: it answers after the
 * others have answered so many connections more.
 */
export class AnswerPace {
  #count = 0;
  #waiting: Waiting[] = [];
  #standstill: NodeJS.Timeout | undefined;

  /** Another server has answered a connection. */
  note(): void {
    this.#count += 1;
    this.#release((each) => each.count <= this.#count);
  }

  async after(more: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count: this.#count + more, go: resolve });
    this.#release(() => false);
    await promise;
  }

  #release(isDue: (each: Waiting) => boolean): void {
    const due = this.#waiting.filter(isDue);
    this.#waiting = this.#waiting.filter((each) => !due.includes(each));
    for (const { go } of due) go();
    clearTimeout(this.#standstill);
    if (this.#waiting.length === 0) return;
    this.#standstill = setTimeout(() => this.#release(() => true), STANDSTILL_MS);
  }
}
