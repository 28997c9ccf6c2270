import { ViewProblem } from './problem.ts';

const BUSY = 503;

/** Runs one after the other, and turns away what would wait behind too many. */
export class OneAtATime {
  readonly #most: number;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  /** `most`: that wait or run. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Throws ViewProblem if too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#count >= this.#most) {
      throw new ViewProblem(BUSY, {
        code: 'TOO_MANY_QUESTIONS',
        message: `${this.#most} questions are waiting for their answer`,
        next: 'ask again in a few seconds',
      });
    }
    this.#count += 1;
    const done = this.#last.then(work).finally(() => {
      this.#count -= 1;
    });
    // The next one runs whether this one fails or not; its caller gets the error.
    this.#last = done.then(
      () => undefined,
      () => undefined,
    );
    return await done;
  }
}
