import type { Panel, Row } from './panel.ts';
import { FILLS, JOB, READY } from './queries.ts';

const ON_NODES = 'instance=~"$instance"';
const OF_JOB = `job="${JOB}", ${ON_NODES}`;
const BY_NODE = '{{instance}}';

/** The first row is the answer; each row below is one reason why it can be bad. */
export const ROWS: readonly Row[] = [
  { title: 'Overview', panels: overview() },
  { title: 'From a change to the kernel', panels: changes() },
  { title: 'API server', panels: apiServer() },
  { title: 'Other processes, and the kernel', panels: kernel() },
  { title: 'Cost', panels: cost() },
  { title: 'Services', panels: services() },
];

function overview(): Panel[] {
  const ready = `min by (instance) (${withNodes(READY)})`;
  return [
    number({
      title: 'Nodes ready',
      about: 'Nodes on which /readyz succeeds.',
      expression: `count(${ready} == 1) or vector(0)`,
    }),
    number({
      title: 'Nodes not ready',
      about: 'Nodes on which /readyz fails, and nodes that do not answer Prometheus.',
      expression: `(count(${ready} == 0) or vector(0)) + (count(up{${OF_JOB}} == 0) or vector(0))`,
      badFrom: 1,
    }),
    number({
      title: 'Change to kernel, p99',
      about: 'From the event of the watch to the acknowledgement of the kernel, over all nodes.',
      unit: 's',
      expression: propagation(0.99),
      badFrom: 1,
    }),
    number({
      title: 'Service ports rejected',
      about: 'Service ports that a kernel rejects, on the node with the most of them.',
      expression: `max(fairlead_failing_rows{${ON_NODES}})`,
      badFrom: 1,
    }),
  ];
}

function changes(): Panel[] {
  const programming = 'kubeproxy_network_programming_duration_seconds_bucket';
  return [
    lines({
      title: 'Change to kernel',
      about: 'From the event of the watch to the acknowledgement of the kernel.',
      unit: 's',
      queries: [
        { expression: propagation(0.5), legend: 'median' },
        { expression: propagation(0.99), legend: 'p99' },
        {
          expression: `histogram_quantile(0.99, sum by (le) (${rate(programming)}))`,
          legend: 'p99 from the trigger in the cluster',
        },
      ],
    }),
    lines({
      title: 'Age of the oldest pending change',
      about:
        'Above 0 for longer than a scrape: changes wait. /readyz fails at twice the sync period.',
      unit: 's',
      queries: byNode(`max by (instance) (fairlead_oldest_pending_seconds{${ON_NODES}}) > 0`),
    }),
    lines({
      title: 'Pending service ports',
      about: 'Service ports to be written or removed, rejected ones included.',
      queries: byNode(`fairlead_pending_rows{${ON_NODES}}`),
    }),
    lines({
      title: 'Rejected writes',
      about: 'Writes that the kernel rejected: of one row, or of the whole plane.',
      unit: 'ops',
      queries: [
        {
          expression: `sum by (scope) (${rate('fairlead_write_failures_total')})`,
          legend: '{{scope}}',
        },
      ],
    }),
  ];
}

function apiServer(): Panel[] {
  return [
    lines({
      title: 'Nodes that are not fresh',
      about: 'Nodes without a watch: their kernels keep the last rules.',
      queries: [
        {
          expression: `count(fairlead_condition{condition="apiFresh", ${ON_NODES}} == 0) or vector(0)`,
          legend: 'nodes',
        },
      ],
    }),
    lines({
      title: 'Requests to the API server',
      about: 'By status; <error> is a request without a response.',
      unit: 'ops',
      queries: [
        {
          expression: `sum by (code) (${rate('rest_client_requests_total')})`,
          legend: '{{code}}',
        },
      ],
    }),
  ];
}

function kernel(): Panel[] {
  return [
    lines({
      title: 'External changes',
      about: 'Times that another process changed objects of Fairlead; all are repaired.',
      queries: byNode(`increase(fairlead_drifts_total{${ON_NODES}}[$__rate_interval]) > 0`),
    }),
    lines({
      title: 'Repaired objects',
      about: 'Kernel objects that differed from the desired state.',
      queries: byNode(
        `increase(fairlead_repaired_differences_total{${ON_NODES}}[$__rate_interval]) > 0`,
      ),
    }),
    lines({
      title: 'Hooks missing',
      about: 'Programs or rules that must be attached and are not.',
      queries: [
        {
          expression: `fairlead_hooks_wanted{${ON_NODES}} - fairlead_hooks_attached{${ON_NODES}}`,
          legend: `${BY_NODE} {{place}}`,
        },
      ],
    }),
    lines({
      title: 'Fullest tables',
      about: 'At 100 % conntrack drops new connections; the others lose a feature.',
      unit: 'percentunit',
      queries: FILLS.map(({ table, query }) => ({
        expression: `max(${withNodes(query)})`,
        legend: table,
      })),
    }),
  ];
}

function cost(): Panel[] {
  return [
    lines({
      title: 'Memory',
      about: 'Resident memory. It grows with the Services of the cluster, not with time.',
      unit: 'bytes',
      queries: byNode(`process_resident_memory_bytes{${OF_JOB}}`),
    }),
    lines({
      title: 'CPU',
      about: 'Cores in use.',
      queries: byNode(`rate(process_cpu_seconds_total{${OF_JOB}}[$__rate_interval])`),
    }),
    lines({
      title: 'Open file descriptors',
      about: 'Also sockets. It must not grow with time.',
      queries: byNode(`process_open_fds{${OF_JOB}}`),
    }),
    lines({
      title: 'Restarts',
      about: 'Starts of the process in the last hour.',
      queries: byNode(`changes(process_start_time_seconds{${OF_JOB}}[1h])`),
    }),
  ];
}

/** Only with `fairlead.serviceMetrics`. */
function services(): Panel[] {
  const top = (metric: string): string => `topk(10, sum by (namespace, service) (${rate(metric)}))`;
  const named = '{{namespace}}/{{service}}';
  return [
    lines({
      title: 'Busiest Services',
      about: 'New connections a second. Empty without fairlead.serviceMetrics.',
      unit: 'cps',
      queries: [{ expression: top('fairlead_service_connections_total'), legend: named }],
    }),
    lines({
      title: 'Services that reject',
      about: 'Packets a second that found no endpoint. Empty without fairlead.serviceMetrics.',
      unit: 'ops',
      queries: [{ expression: top('fairlead_service_rejected_packets_total'), legend: named }],
    }),
  ];
}

function number(
  of: Omit<Panel, 'form' | 'unit' | 'queries'> & {
    readonly unit?: Panel['unit'];
    readonly expression: string;
  },
): Panel {
  const { expression, unit = 'short', ...panel } = of;
  return { ...panel, unit, form: 'number', queries: [{ expression, legend: '' }] };
}

function lines(of: Omit<Panel, 'form' | 'unit'> & { readonly unit?: Panel['unit'] }): Panel {
  return { unit: 'short', ...of, form: 'lines' };
}

function byNode(expression: string): Panel['queries'] {
  return [{ expression, legend: BY_NODE }];
}

function rate(metric: string): string {
  return `rate(${metric}{${ON_NODES}}[$__rate_interval])`;
}

function propagation(quantile: number): string {
  return `histogram_quantile(${quantile}, sum by (le) (${rate('fairlead_propagation_seconds_bucket')}))`;
}

/** Adds the nodes of the dashboard to each metric of a query for all nodes. */
function withNodes(query: string): string {
  return query.replaceAll(/(fairlead_\w+)(?:\{([^}]*)\})?/g, (_, name: string, inner?: string) => {
    return `${name}{${[inner, ON_NODES].filter(Boolean).join(', ')}}`;
  });
}
