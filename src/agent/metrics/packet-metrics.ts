import type { PacketCounts } from '../../dataplanes/contract.ts';
import type { CounterMetric, MetricSet } from '../metrics.ts';

const NAMES: Readonly<Record<keyof PacketCounts, string>> = {
  invalidDropped: 'kubeproxy_iptables_ct_state_invalid_dropped_packets_total',
  localhostAccepted: 'kubeproxy_iptables_localhost_nodeports_accepted_packets_total',
};
const HELP: Readonly<Record<keyof PacketCounts, string>> = {
  invalidDropped: 'Packets dropped because conntrack considers them invalid',
  localhostAccepted: 'Packets accepted for node ports on loopback',
};
const COUNTS = ['invalidDropped', 'localhostAccepted'] as const;

/**
 * kube-proxy's packet counters of iptables mode. Read from the kernel for each scrape; omitted if
 * the kernel has no such counter.
 */
export class PacketMetrics {
  readonly #set: MetricSet;
  readonly #read: () => Promise<PacketCounts>;
  readonly #counters = new Map<keyof PacketCounts, CounterMetric>();

  constructor(set: MetricSet, read: () => Promise<PacketCounts>) {
    this.#set = set;
    this.#read = read;
  }

  async take(): Promise<void> {
    const counts = await this.#read();
    for (const name of COUNTS) {
      const count = counts[name];
      if (count !== undefined) this.#counter(name).replace(count);
    }
  }

  #counter(name: keyof PacketCounts): CounterMetric {
    const known = this.#counters.get(name);
    if (known) return known;
    const counter = this.#set.counter({ name: NAMES[name], help: HELP[name] });
    this.#counters.set(name, counter);
    return counter;
  }
}
