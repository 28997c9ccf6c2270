import type { GaugeMetric, MetricSet } from '../../agent/metrics.ts';
import { type PacketCounter, PacketMetrics } from './packet-metrics.ts';
import type { RuleCount } from './plane/rule-counts.ts';

export interface IptablesReadings {
  readonly ruleCounts: () => readonly RuleCount[];
  readonly packetCounters: () => Promise<readonly PacketCounter[]>;
}

/** As kube-proxy counts in iptables mode. */
export class IptablesMetrics {
  readonly #readings: IptablesReadings;
  readonly #rules: { readonly total: GaugeMetric; readonly last: GaugeMetric };
  readonly #packets: PacketMetrics;

  constructor(set: MetricSet, readings: IptablesReadings) {
    this.#readings = readings;
    this.#rules = defineRules(set);
    this.#packets = new PacketMetrics(set, readings.packetCounters);
  }

  async take(): Promise<void> {
    await this.#packets.take();
    for (const { table, family, total, lastWritten } of this.#readings.ruleCounts()) {
      this.#rules.total.set(total, table, family);
      this.#rules.last.set(lastWritten, table, family);
    }
  }
}

function defineRules(set: MetricSet) {
  const prefix = 'kubeproxy_sync_proxy_rules_iptables';
  const labels = ['table', 'ip_family'];
  return {
    total: set.gauge({ name: `${prefix}_total`, help: 'iptables rules owned by Fairlead', labels }),
    last: set.gauge({
      name: `${prefix}_last`,
      help: 'iptables rules written in the last transaction',
      labels,
    }),
  };
}
