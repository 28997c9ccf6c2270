import { labelText } from './series-text.ts';

/** No label value has it: Kubernetes names and our words are text without control characters. */
const BETWEEN = '\0';

/**
 * What a metric has for each combination of its label values. A metric without labels has one from
 * the begin, so that a counter which never counted is 0 and not absent.
 */
export class LabelledSeries<T> {
  readonly #names: readonly string[];
  readonly #create: () => T;
  readonly #series = new Map<string, { readonly labels: string; readonly state: T }>();

  constructor(names: readonly string[], create: () => T) {
    this.#names = names;
    this.#create = create;
    this.#begin();
  }

  of(values: readonly string[]): T {
    if (values.length !== this.#names.length) {
      throw new RangeError(`values ${values.join()} for the labels ${this.#names.join()}`);
    }
    const key = values.join(BETWEEN);
    const known = this.#series.get(key);
    if (known) return known.state;
    const state = this.#create();
    this.#series.set(key, { labels: labelText(this.#names, values), state });
    return state;
  }

  clear(): void {
    this.#series.clear();
    this.#begin();
  }

  text(textOf: (state: T, labels: string) => string): string {
    return [...this.#series.values()].map(({ state, labels }) => textOf(state, labels)).join('');
  }

  #begin(): void {
    if (this.#names.length === 0) this.of([]);
  }
}
