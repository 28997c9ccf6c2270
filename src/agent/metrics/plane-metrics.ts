import type { Attachment, RuleCount } from '../../dataplanes/contract.ts';
import type { GaugeMetric, MetricSet } from '../metrics.ts';

export interface PlaneReadings {
  /** Read from the kernel for each scrape; undefined: too expensive. */
  readonly attachments?: () => Promise<readonly Attachment[]>;
  /** Undefined: the mode does not count rules. */
  readonly ruleCounts?: () => readonly RuleCount[];
}

/** State of the data plane in the kernel. */
export class PlaneMetrics {
  readonly #readings: PlaneReadings;
  readonly #hooks: { readonly wanted: GaugeMetric; readonly attached: GaugeMetric } | undefined;
  readonly #rules: { readonly total: GaugeMetric; readonly last: GaugeMetric } | undefined;

  constructor(set: MetricSet, readings: PlaneReadings) {
    this.#readings = readings;
    this.#hooks = readings.attachments && defineHooks(set);
    this.#rules = readings.ruleCounts && defineRules(set);
  }

  async take(): Promise<void> {
    for (const { table, family, total, lastWritten } of this.#readings.ruleCounts?.() ?? []) {
      this.#rules?.total.set(total, table, family);
      this.#rules?.last.set(lastWritten, table, family);
    }
    if (this.#readings.attachments && this.#hooks) {
      const attachments = await this.#readings.attachments();
      for (const [place, all] of Map.groupBy(attachments, (each) => each.place)) {
        this.#hooks.wanted.set(all.length, place);
        this.#hooks.attached.set(all.filter(({ isAttached }) => isAttached).length, place);
      }
    }
  }
}

function defineHooks(set: MetricSet) {
  const labels = ['place'];
  return {
    wanted: set.gauge({
      name: 'fairlead_hooks_wanted',
      help: 'Hooks that eBPF programs or rules must be attached to, by place: cgroup, tc, nftables',
      labels,
    }),
    attached: set.gauge({
      name: 'fairlead_hooks_attached',
      help: 'Hooks that eBPF programs or rules are attached to, by place: cgroup, tc, nftables',
      labels,
    }),
  };
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
