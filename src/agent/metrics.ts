import {
  CONTENT_TYPE,
  HistogramSeries,
  headText,
  LabelledSeries,
  type MetricType,
  sampleText,
} from './metrics/metric-series.ts';

export interface MetricDefinition<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
}

/** The interface of one metric; label values come in the order of the names. */
export interface CounterMetric {
  add(amount: number, ...labels: readonly string[]): void;
  /** For values that are counted elsewhere and only shown here. */
  replace(total: number, ...labels: readonly string[]): void;
  /** Removes the values of all labels. */
  clear(): void;
}

export interface GaugeMetric {
  set(value: number, ...labels: readonly string[]): void;
  /** Removes the values of all labels. */
  clear(): void;
}

export interface HistogramMetric {
  observe(value: number, ...labels: readonly string[]): void;
}

interface Value {
  now: number;
}

/** A set of metrics and their text, in the order in which they were defined. */
export class MetricSet {
  readonly contentType: string = CONTENT_TYPE;
  readonly #texts = new Map<string, () => string>();

  counter<L extends string>(definition: MetricDefinition<L>): CounterMetric {
    const values = this.#values('counter', definition);
    return {
      add: (amount, ...labels) => {
        if (amount < 0) throw new RangeError(`${definition.name} cannot count ${amount}`);
        values.of(labels).now += amount;
      },
      replace: (total, ...labels) => {
        values.of(labels).now = total;
      },
      clear: () => values.clear(),
    };
  }

  gauge<L extends string>(definition: MetricDefinition<L>): GaugeMetric {
    const values = this.#values('gauge', definition);
    return {
      set: (value, ...labels) => {
        values.of(labels).now = value;
      },
      clear: () => values.clear(),
    };
  }

  histogram<L extends string>(
    definition: MetricDefinition<L> & { readonly buckets: readonly number[] },
  ): HistogramMetric {
    const { name, labels: names = [], buckets } = definition;
    const series = new LabelledSeries(names, () => new HistogramSeries(buckets));
    this.#define('histogram', definition, () =>
      series.text((each, labels) => each.text(name, labels)),
    );
    return { observe: (value, ...labels) => series.of(labels).observe(value) };
  }

  render(): string {
    return [...this.#texts.values()].map((text) => text()).join('\n');
  }

  #values(type: MetricType, definition: MetricDefinition<string>): LabelledSeries<Value> {
    const { name, labels: names = [] } = definition;
    const values = new LabelledSeries<Value>(names, () => ({ now: 0 }));
    this.#define(type, definition, () =>
      values.text(({ now }, labels) => sampleText(name, labels, now)),
    );
    return values;
  }

  #define(type: MetricType, { name, help }: MetricDefinition<string>, samples: () => string): void {
    if (this.#texts.has(name)) throw new RangeError(`there are two metrics ${name}`);
    const head = headText(name, type, help);
    this.#texts.set(name, () => head + samples());
  }
}
