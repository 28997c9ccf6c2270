import type { Alert } from './alert.ts';
import { FILLS, JOB, READY } from './queries.ts';

const NODE = '{{ $labels.instance }}';
const VALUE = '{{ $value | humanize }}';
const AGE = '{{ $value | humanizeDuration }}';
const SHARE = '{{ $value | humanizePercentage }}';

/** What an operator is called for. docs/runbooks.md says of each what to do. */
export const ALERTS: readonly Alert[] = [
  {
    name: 'FairleadDown',
    // Without a target, such as of a PodMonitor that selects nothing, there is no `up` at all.
    expression: `up{job="${JOB}"} == 0\nor\nabsent(up{job="${JOB}"})`,
    for: '5m',
    severity: 'critical',
    summary: 'Fairlead on {{ or $labels.instance "every node" }} does not answer',
    description:
      'Prometheus cannot read its metrics. The kernel keeps the rules, and changes of Services do not arrive.',
  },
  {
    name: 'FairleadNotReady',
    expression: `min by (job, instance) (${READY}) == 0`,
    for: '5m',
    severity: 'critical',
    summary: `Fairlead on ${NODE} is not ready`,
    description:
      '/readyz fails: the first sync is not complete, or changes do not reach the kernel, or a part of the scope may not be read.',
  },
  {
    name: 'FairleadHealthzFailing',
    expression: 'increase(kubeproxy_proxy_healthz_total{code!="200"}[5m]) > 0',
    for: '15m',
    severity: 'warning',
    summary: `Load balancers find ${NODE} unhealthy`,
    description:
      '/healthz answers with an error, so load balancers send no traffic to the node. Expected only while the node is removed.',
  },
  {
    name: 'FairleadChangesLate',
    expression: 'max by (job, instance) (fairlead_oldest_pending_seconds) > 10',
    for: '2m',
    severity: 'warning',
    summary: `Changes reach the kernel of ${NODE} late`,
    description: `The oldest change has waited for ${AGE}. New connections still go to the endpoints from before.`,
  },
  {
    name: 'FairleadApiNotFresh',
    expression: 'fairlead_condition{condition="apiFresh"} == 0',
    for: '5m',
    severity: 'warning',
    summary: `Fairlead on ${NODE} receives nothing from the API server`,
    description:
      'A watch is not established. The kernel keeps the last rules, and endpoints that left since are still used.',
  },
  {
    name: 'FairleadChangesRejected',
    expression: 'fairlead_failing_rows > 0',
    for: '10m',
    severity: 'warning',
    summary: `The kernel of ${NODE} rejects Services`,
    description: `${VALUE} service ports are not in the kernel as they should be; all others are.`,
  },
  {
    name: 'FairleadAddressesNotServed',
    expression: 'sum by (job, instance, reason) (fairlead_addresses_not_served) > 0',
    for: '15m',
    severity: 'warning',
    summary: `Addresses of Services are not served on ${NODE}`,
    description: `${VALUE} addresses, because of {{ $labels.reason }}. Connections to them are left to whatever has the address otherwise.`,
  },
  {
    name: 'FairleadNodePortsHeld',
    expression: 'fairlead_node_ports_held > 0',
    for: '15m',
    severity: 'warning',
    summary: `A process on ${NODE} listens on a node port`,
    description: `${VALUE} node ports. Clients of that process reach the Service instead.`,
  },
  {
    name: 'FairleadDriftOften',
    expression: 'increase(fairlead_drifts_total[30m]) > 5',
    severity: 'warning',
    summary: `Another process changes the rules on ${NODE}`,
    description: `${VALUE} external changes in 30 minutes. Each is repaired, and connections can fail until then.`,
  },
  {
    name: 'FairleadHooksMissing',
    expression: 'fairlead_hooks_attached < fairlead_hooks_wanted',
    for: '5m',
    severity: 'critical',
    summary: `Programs or rules of Fairlead are detached on ${NODE}`,
    description:
      'Hooks in {{ $labels.place }}: packets that pass them do not reach Services, or only through the plane behind.',
  },
  {
    name: 'FairleadTableNearFull',
    expression: FILLS.map(({ table, query }) => {
      return `label_replace(${query}, "table", "${table}", "", "") > 0.9`;
    }).join('\nor\n'),
    for: '5m',
    severity: 'warning',
    summary: `A table of ${NODE} is ${SHARE} full`,
    description:
      'The table {{ $labels.table }}. When it is full, new clients are dropped or lose a feature.',
  },
  {
    name: 'FairleadRestarting',
    expression: `changes(process_start_time_seconds{job="${JOB}"}[30m]) > 2`,
    severity: 'warning',
    summary: `Fairlead on ${NODE} restarts again and again`,
    description: `${VALUE} restarts in 30 minutes. The kernel keeps forwarding; changes wait for each start.`,
  },
];
