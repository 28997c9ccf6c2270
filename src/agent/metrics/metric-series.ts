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

/** Of the text format, version 0.0.4, which is all that Prometheus and its relatives need. */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** The two lines before the samples of a metric. */
export function headText(name: string, type: MetricType, help: string): string {
  const oneLine = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${oneLine}\n# TYPE ${name} ${type}\n`;
}

/** `a="x",b="y"`: without braces, so that a histogram can add its own. */
function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`).join(',');
}

export function sampleText(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${numberText(value)}\n`;
}

/** The upper bound of a bucket is a label, and a number as in a sample. */
function boundText(bound: number, labels: string): string {
  return `le="${numberText(bound)}"${labels === '' ? '' : `,${labels}`}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
