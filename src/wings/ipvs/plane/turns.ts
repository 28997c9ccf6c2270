/** Runs one piece of work after the other: the drainer works beside the calls of the contract. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    // Its caller gets the error; the next one only waits for the end.
    this.#last = mine.catch(() => undefined);
    return await mine;
  }
}
