import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';

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

/**
 * A set of metrics and their text. Only this file uses the library, so that metrics and their
 * format can change independently.
 */
export class MetricSet {
  readonly contentType: string = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #registry = new Registry();

  counter<L extends string>(definition: MetricDefinition<L>): CounterMetric {
    const counter = new Counter<string>(this.#configuration(definition));
    return {
      add: (amount, ...labels) => counter.labels(...labels).inc(amount),
      replace: (total, ...labels) => {
        // Without labels there is nothing to remove, only to reset.
        if (labels.length === 0) counter.reset();
        else counter.remove(...labels);
        counter.labels(...labels).inc(total);
      },
      clear: () => counter.reset(),
    };
  }

  gauge<L extends string>(definition: MetricDefinition<L>): GaugeMetric {
    const gauge = new Gauge<string>(this.#configuration(definition));
    return {
      set: (value, ...labels) => gauge.labels(...labels).set(value),
      clear: () => gauge.reset(),
    };
  }

  histogram<L extends string>(
    definition: MetricDefinition<L> & { readonly buckets: readonly number[] },
  ): HistogramMetric {
    const histogram = new Histogram<string>({
      ...this.#configuration(definition),
      buckets: [...definition.buckets],
    });
    return { observe: (value, ...labels) => histogram.labels(...labels).observe(value) };
  }

  async render(): Promise<string> {
    return await this.#registry.metrics();
  }

  #configuration({ name, help, labels }: MetricDefinition<string>) {
    return { name, help, labelNames: [...(labels ?? [])], registers: [this.#registry] };
  }
}
