import type { Attachment } from '../../dataplanes/contract.ts';
import type { GaugeMetric, MetricSet } from '../metrics.ts';

/** Read from the kernel for each scrape. */
export type ReadAttachments = () => Promise<readonly Attachment[]>;

/** What leads packets and sockets to the rows, and whether it is in the kernel. */
export class HookMetrics {
  readonly #read: ReadAttachments;
  readonly #hooks: { readonly wanted: GaugeMetric; readonly attached: GaugeMetric };

  constructor(set: MetricSet, read: ReadAttachments) {
    this.#read = read;
    this.#hooks = defineHooks(set);
  }

  async take(): Promise<void> {
    const attachments = await this.#read();
    for (const [place, all] of Map.groupBy(attachments, (each) => each.place)) {
      this.#hooks.wanted.set(all.length, place);
      this.#hooks.attached.set(all.filter(({ isAttached }) => isAttached).length, place);
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
