import { type AddressPair, nodeAddress, outsiderAddress, podCidr } from '../../lab/network/plan.ts';
import type { Scenario } from '../scenario.ts';
import {
  answeredSeeing,
  asker,
  clusterIP,
  fromEach,
  nodePort,
  on,
  refused,
  silent,
  unserved,
  vip,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const BY_BOTH = answeredSeeing('node', 'a', 'b');
const CLIENT_1 = only(outsiderAddress('client', 1));
const CLIENT_2 = only(outsiderAddress('client', 2));
const LB = vip('lb', 'web');
const SERVED = { to: LB, expect: BY_BOTH };
const DENIED = { to: LB, expect: silent, escapes: false };

function only(address: AddressPair): string[] {
  return [`${address.ipv4}/32`, `${address.ipv6}/128`];
}

function reserved(ranges: readonly string[], more: Readonly<Record<string, unknown>> = {}) {
  return {
    loadBalancer: [{ name: 'lb' }],
    spec: { type: 'LoadBalancer', loadBalancerSourceRanges: ranges, ...more },
  };
}

export const sourceRangeScenarios: readonly Scenario[] = [
  {
    name: 'source-ranges/clients',
    title: 'Only clients inside the source ranges reach a load-balancer IP; others get no answer',
    pods: EVERYWHERE,
    services: { web: reserved(CLIENT_1) },
    steps: [
      {
        ask: [
          { from: 'client@node1', ...SERVED },
          ...fromEach(['client@node2', 'machine@node1', 'machine@node2'], DENIED),
        ],
      },
    ],
  },
  {
    name: 'source-ranges/inside-the-cluster',
    title: 'Source ranges hold for pods and nodes of the cluster too',
    pods: EVERYWHERE,
    services: { web: reserved(CLIENT_1) },
    steps: [
      {
        ask: [
          { from: 'client@node1', ...SERVED },
          ...fromEach(['pod:near', 'pod:far', 'node1', 'node2'], DENIED),
        ],
      },
    ],
  },
  {
    name: 'source-ranges/of-pods',
    title: 'Pods inside the source ranges reach the load-balancer IP',
    pods: EVERYWHERE,
    services: { web: reserved([podCidr(1).ipv4, podCidr(1).ipv6]) },
    steps: [
      {
        ask: [{ from: 'pod:near', ...SERVED }, ...fromEach(['pod:far', 'client@node1'], DENIED)],
      },
    ],
  },
  {
    name: 'source-ranges/of-nodes',
    title: 'A node inside the source ranges reaches the load-balancer IP',
    pods: EVERYWHERE,
    services: { web: reserved(only(nodeAddress(1))) },
    steps: [
      {
        ask: [
          { from: 'node1', ...SERVED },
          ...fromEach(['node2', 'pod:near', 'client@node1'], DENIED),
        ],
      },
    ],
  },
  {
    name: 'source-ranges/other-addresses',
    title:
      'Source ranges hold for the load-balancer IP only, not for NodePort, ClusterIP or external IP',
    pods: EVERYWHERE,
    services: { web: { ...reserved(CLIENT_1), externalIPs: ['shop'] } },
    steps: [
      {
        ask: [
          { from: 'client@node2', ...DENIED },
          { from: 'client@node2', to: nodePort('web', 2), expect: BY_BOTH },
          { from: 'client@node2', to: clusterIP('web'), expect: BY_BOTH },
          { from: 'client@node2', to: vip('shop', 'web'), expect: BY_BOTH },
          { from: 'pod:far', to: nodePort('web', 1), expect: BY_BOTH },
          { from: 'pod:far', to: clusterIP('web'), expect: answeredSeeing('own', 'a', 'b') },
        ],
      },
    ],
  },
  {
    name: 'source-ranges/several',
    title: 'A client is let in when any of several source ranges holds it',
    pods: EVERYWHERE,
    services: { web: reserved([...CLIENT_1, ...only(outsiderAddress('machine', 2))]) },
    steps: [
      {
        ask: [
          ...fromEach(['client@node1', 'machine@node2'], SERVED),
          ...fromEach(['client@node2', 'machine@node1'], DENIED),
        ],
      },
    ],
  },
  {
    name: 'source-ranges/everything',
    title: 'A source range of length zero admits every client',
    pods: EVERYWHERE,
    services: { web: reserved([...CLIENT_1, '0.0.0.0/0', '::/0']) },
    steps: [{ ask: fromEach(['pod:near', 'node2', 'client@node1', 'machine@node2'], SERVED) }],
  },
  {
    name: 'source-ranges/change',
    title: 'Source ranges can be set, changed and cleared on a living Service',
    pods: EVERYWHERE,
    services: { web: reserved([]) },
    steps: [
      { ask: fromEach(['client@node1', 'client@node2'], SERVED) },
      { change: [{ patchService: 'web', to: { spec: { loadBalancerSourceRanges: CLIENT_1 } } }] },
      {
        ask: [
          { from: 'client@node1', ...SERVED },
          { from: 'client@node2', ...DENIED },
        ],
      },
      { change: [{ patchService: 'web', to: { spec: { loadBalancerSourceRanges: CLIENT_2 } } }] },
      {
        ask: [
          { from: 'client@node1', ...DENIED },
          { from: 'client@node2', ...SERVED },
        ],
      },
      { change: [{ patchService: 'web', to: { spec: { loadBalancerSourceRanges: null } } }] },
      { ask: fromEach(['client@node1', 'client@node2', 'pod:near'], SERVED) },
    ],
  },
  {
    name: 'source-ranges/udp',
    title: 'Source ranges hold for UDP as for TCP',
    pods: EVERYWHERE,
    services: {
      web: {
        ...reserved(CLIENT_1),
        ports: [{ name: 'u', port: 53, targetPort: 'udp', protocol: 'UDP' }],
      },
    },
    steps: [
      {
        ask: [
          { from: 'client@node1', ...SERVED },
          ...fromEach(['client@node2', 'machine@node1', 'pod:near'], DENIED),
        ],
      },
    ],
  },
  {
    name: 'source-ranges/with-local-policy',
    title:
      'With externalTrafficPolicy Local, source ranges come first and the client stays visible',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: {
      web: reserved([...CLIENT_1, ...CLIENT_2], { externalTrafficPolicy: 'Local' }),
    },
    steps: [
      {
        ask: [
          { from: 'client@node1', to: LB, expect: answeredSeeing('own', 'a') },
          // Inside the ranges, but this node has no endpoint.
          { from: 'client@node2', ...DENIED },
          ...fromEach(['machine@node1', 'pod:near', 'pod:far', 'node1'], DENIED),
        ],
      },
    ],
  },
  {
    name: 'source-ranges/no-endpoints',
    title: 'Without endpoints a client inside the source ranges is refused at once',
    pods: { near: asker(1) },
    services: { web: reserved(CLIENT_1) },
    steps: [
      {
        ask: [
          { from: 'client@node1', to: LB, expect: refused, escapes: false },
          { from: 'client@node2', to: LB, expect: unserved, escapes: false },
        ],
      },
    ],
  },
];
