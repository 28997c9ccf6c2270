import type { LoadSize } from '../lab/load/objects.ts';
import { type Step, siteSeconds } from './plan.ts';
import { isSameSize } from './sizes.ts';

/** Guesses how long is left: the plan's own guess, corrected by how wrong it has been so far. */
export class Remaining {
  readonly #steps: readonly Step[];
  #guessedSeconds = 0;
  #tookSeconds = 0;

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
  }

  took(step: Step, seconds: number): void {
    this.#guessedSeconds += step.estimateSeconds;
    this.#tookSeconds += seconds;
  }

  /** Before the step with this index. */
  text(index: number): string {
    const left = this.#steps.slice(index);
    let seconds = left.reduce((sum, { estimateSeconds }) => sum + estimateSeconds, 0);
    if (this.#guessedSeconds > 0) seconds *= this.#tookSeconds / this.#guessedSeconds;
    let size: LoadSize | undefined = this.#steps[index - 1]?.size;
    for (const step of left) {
      if (size === undefined || !isSameSize(step.size, size)) seconds += siteSeconds(step.size);
      size = step.size;
    }
    const minutes = Math.round(seconds / 60);
    return minutes < 1 ? 'less than a minute left' : `about ${minutes} min left`;
  }
}
