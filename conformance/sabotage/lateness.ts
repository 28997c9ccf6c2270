import { FAIRLEAD_NAMES } from '../../lab/proxies/fairlead.ts';
import type { LateSabotage } from './sabotage.ts';

/** A proxy that is right in the end, and late: what every scenario would forgive that waits. */
export const latenessSabotages: readonly LateSabotage[] = [
  {
    name: 'one-service-6s-late',
    title: 'one Service is late by 6 s when an endpoint becomes unready; all others are in time',
    proxies: FAIRLEAD_NAMES,
    noticedBy: { scenario: 'cluster-ip/follows-readiness' },
    delayMs: 6_000,
    service: 'NAMESPACE/web',
  },
  {
    name: 'one-service-300ms-late',
    title: 'one Service is late by 0.3 s when an endpoint becomes unready; all others are in time',
    proxies: FAIRLEAD_NAMES,
    noticedBy: { scenario: 'cluster-ip/follows-readiness' },
    delayMs: 300,
    service: 'NAMESPACE/web',
  },
  {
    name: 'everything-300ms-late',
    title: 'every Service is late by 0.3 s, that of the barrier too',
    proxies: FAIRLEAD_NAMES,
    noticedBy: 'promptness',
    delayMs: 300,
    service: '*',
  },
  {
    name: 'every-change-20s-late',
    title:
      'all Services of a scenario are late by 20 s from its first step on; the barrier is in time',
    proxies: FAIRLEAD_NAMES,
    noticedBy: 'every change',
    // Longer than any time that is granted, and a round of the barrier on a busy machine.
    delayMs: 20_000,
    service: 'NAMESPACE/*',
  },
];

/** Scenarios with changes that pass with a late proxy too, each with the reason. */
export const BLIND_TO_LATENESS: Readonly<Record<string, string>> = {
  'affinity/kept-when-endpoints-join': 'clients stay where they are, and a new one may get any',
  'cluster-ip/two-services-one-selector':
    'the Service that is asked after the change is another one',
  'terminating/cluster-ip': 'endpoints that terminate and serve are used as they were before',
  'terminating/udp': 'endpoints that terminate and serve are used as they were before',
  'terminating/load-balancer-local': 'an endpoint that terminates and serves is used as before',
  'terminating/publish-not-ready-addresses': 'endpoints are used whatever their state is',
  'health-check/follows-policy': 'its port has a fixed number, so it can be built once in a lab',
  'health-check/proxy-of-leaving-node': 'it changes a Node, and Services are late',
  'without-ebpf/by-label-of-the-service': 'without eBPF the label changes no answer',
  'without-ebpf/by-label-of-the-namespace': 'without eBPF the label changes no answer',
  'flows/udp-stays-where-it-may': 'the flow stays, whatever the others do',
  'flows/tcp-survives-changes-around-it': 'the connection stays, whatever the others do',
  'address-rules/an-address-of-the-node': 'the Service that comes late must not be served',
  'address-rules/no-node-port-of-another-service': 'the Service that comes late must not be served',
};
