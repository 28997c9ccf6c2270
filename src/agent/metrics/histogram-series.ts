import { boundText, sampleText } from './series-text.ts';

/** Observed values by bucket. */
export class HistogramSeries {
  /** Ascending; the last bucket is for everything above. */
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = [...bounds, Number.POSITIVE_INFINITY];
    this.#counts = this.#bounds.map(() => 0);
  }

  observe(value: number): void {
    if (Number.isNaN(value)) throw new RangeError('a histogram cannot observe NaN');
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  text(name: string, labels: string): string {
    let count = 0;
    let text = '';
    for (const [index, bound] of this.#bounds.entries()) {
      count += this.#counts[index] ?? 0;
      text += sampleText(`${name}_bucket`, boundText(bound, labels), count);
    }
    return (
      text +
      sampleText(`${name}_sum`, labels, this.#sum) +
      sampleText(`${name}_count`, labels, count)
    );
  }
}
