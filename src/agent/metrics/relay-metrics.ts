import { FAMILIES } from '../../forwarding/model.ts';
import type { MetricSet } from '../metrics.ts';
import type { RelayCounts } from '../servers/localhost-relay.ts';

/** kube-proxy's metrics; it has them only where the feature gate is enabled. */
export class RelayMetrics {
  readonly #metrics: ReturnType<typeof define>;
  readonly #read: () => RelayCounts;

  constructor(set: MetricSet, read: () => RelayCounts) {
    this.#metrics = define(set);
    this.#read = read;
  }

  take(): void {
    const { listeners, listenFailures } = this.#read();
    for (const family of FAMILIES) {
      this.#metrics.listeners.set(listeners[family], family);
      this.#metrics.failures.replace(listenFailures[family], family);
    }
  }
}

function define(set: MetricSet) {
  const prefix = 'kubeproxy_nftables_localhost_nodeport';
  const labels = ['ip_family'];
  return {
    listeners: set.gauge({
      name: `${prefix}_listeners`,
      help: 'Node ports with a listener on loopback',
      labels,
    }),
    failures: set.counter({
      name: `${prefix}_listener_creation_failures_total`,
      help: 'Failed attempts to listen on loopback for a node port',
      labels,
    }),
  };
}
