import { parse, stringify } from 'yaml';
import { text } from './deployed.ts';

interface Relabeling {
  readonly action?: string;
  readonly sourceLabels?: readonly string[];
  readonly regex?: string;
  readonly targetLabel?: string;
  readonly replacement?: string;
}

interface PodMonitor {
  readonly spec: {
    readonly podMetricsEndpoints: readonly { readonly relabelings: readonly Relabeling[] }[];
  };
}

/** What Prometheus Operator makes of the PodMonitor, with the targets that discovery would find. */
export function scrapeConfiguration(of: { readonly rules: string; readonly node: string }): string {
  const monitor = parse(text('deploy/monitoring/pod-monitor.yaml')) as PodMonitor;
  const [endpoint] = monitor.spec.podMetricsEndpoints;
  return stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [of.rules],
    scrape_configs: [
      {
        job_name: 'podMonitor/kube-system/fairlead/0',
        relabel_configs: endpoint?.relabelings.map(inPrometheusWords),
        // An init container is a target too, until it is dropped.
        static_configs: ['limits', 'fairlead'].map((container) => ({
          targets: ['127.0.0.1'],
          labels: {
            __meta_kubernetes_pod_container_name: container,
            __meta_kubernetes_pod_ip: '127.0.0.1',
            __meta_kubernetes_pod_node_name: of.node,
          },
        })),
      },
    ],
  });
}

function inPrometheusWords({ sourceLabels, targetLabel, ...rest }: Relabeling): object {
  return {
    ...rest,
    ...(sourceLabels ? { source_labels: sourceLabels } : {}),
    ...(targetLabel ? { target_label: targetLabel } : {}),
  };
}
