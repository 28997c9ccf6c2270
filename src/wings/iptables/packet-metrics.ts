import type { CounterMetric, MetricSet } from '../../agent/metrics.ts';

/** A counter that rules of a mode keep in the kernel, under kube-proxy's name for it. */
export interface PacketCounter {
  readonly name: string;
  readonly help: string;
  /** Undefined: the kernel has no such counter. */
  readonly count: number | undefined;
}

/** Read from the kernel for each scrape; a count that the kernel does not have is not shown. */
export class PacketMetrics {
  readonly #set: MetricSet;
  readonly #read: () => Promise<readonly PacketCounter[]>;
  readonly #metrics = new Map<string, CounterMetric>();

  constructor(set: MetricSet, read: () => Promise<readonly PacketCounter[]>) {
    this.#set = set;
    this.#read = read;
  }

  async take(): Promise<void> {
    for (const { name, help, count } of await this.#read()) {
      if (count === undefined) continue;
      const known = this.#metrics.get(name);
      const metric = known ?? this.#set.counter({ name, help });
      this.#metrics.set(name, metric);
      metric.replace(count);
    }
  }
}
