import type { Sample } from '../../prometheus.ts';

/**
 * The panels of the dashboard "Kubernetes / Proxy" of kubernetes-mixin and what each asks Prometheus,
 * for one cluster and all instances.
 */
export interface Panel {
  readonly title: string;
  readonly query: string;
  /** Why it stays empty with Fairlead. */
  readonly isEmptyBecause?: string;
}

const SELECTOR = 'cluster="", job="kube-proxy"';
const INSTANCES = `${SELECTOR}, instance=~".*"`;

function rate(metric: string, more = ''): string {
  return `rate(${metric}{${INSTANCES}${more}}[5m])`;
}

function latency(verb: string): string {
  const bucket = rate('rest_client_request_duration_seconds_bucket', `, verb="${verb}"`);
  return `histogram_quantile(0.99, sum(${bucket}) by (verb, url, le))`;
}

const PROGRAMMING = 'kubeproxy_network_programming_duration_seconds';
const SYNC = 'kubeproxy_sync_proxy_rules_duration_seconds';

export const PANELS: readonly Panel[] = [
  { title: 'Up', query: `sum(up{${SELECTOR}})` },
  { title: 'Rules Sync Rate', query: `sum(${rate(`${SYNC}_count`)})` },
  {
    title: 'Rules Sync Latency 99th Quantile',
    query: `histogram_quantile(0.99, ${rate(`${SYNC}_bucket`)})`,
  },
  { title: 'Network Programming Rate', query: `sum(${rate(`${PROGRAMMING}_count`)})` },
  {
    title: 'Network Programming Latency 99th Quantile',
    query: `histogram_quantile(0.99, sum(${rate(`${PROGRAMMING}_bucket`)}) by (instance, le))`,
  },
  {
    title: 'Kube API Request Rate',
    query: `sum(${rate('rest_client_requests_total', ', code=~"2.."')})`,
  },
  { title: 'Post Request Latency 99th Quantile', query: latency('POST') },
  { title: 'Get Request Latency 99th Quantile', query: latency('GET') },
  { title: 'Memory', query: `process_resident_memory_bytes{${INSTANCES}}` },
  { title: 'CPU usage', query: rate('process_cpu_seconds_total') },
  {
    title: 'Goroutines',
    query: `go_goroutines{${INSTANCES}}`,
    isEmptyBecause: 'Fairlead has no goroutines',
  },
];

/** What a panel shows: a number, a line of gaps because nothing happened lately, or nothing at all. */
export type PanelAnswer = number | 'no number' | 'empty';

export function panelAnswer(samples: readonly Sample[]): PanelAnswer {
  if (samples.length === 0) return 'empty';
  const numbers = samples.map(({ value: [, text] }) => Number(text));
  return numbers.find((value) => !Number.isNaN(value)) ?? 'no number';
}
