import type { Scenario } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  fromEach,
  fromForwarderOnItsNode,
  nodePort,
  on,
  refused,
  silent,
} from '../words.ts';

const LOCAL = { spec: { internalTrafficPolicy: 'Local' } };
const WEB = clusterIP('web');

export const internalPolicyScenarios: readonly Scenario[] = [
  {
    name: 'internal-policy/local-only',
    title: 'With internalTrafficPolicy Local each node uses only its own endpoints',
    pods: { a: on(1), a2: on(1), b: on(2), near: asker(1), far: asker(2) },
    services: { web: LOCAL },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: WEB, expect: answeredSeeing('own', 'a', 'a2') },
          { from: 'pod:far', to: WEB, expect: answeredSeeing('own', 'b') },
          { from: 'node1', to: WEB, expect: answeredSeeing('node', 'a', 'a2') },
          { from: 'node2', to: WEB, expect: answeredSeeing('node', 'b') },
          { from: 'client@node1', to: WEB, expect: answeredSeeing('node', 'a', 'a2') },
          { from: 'client@node2', to: WEB, expect: answeredSeeing('node', 'b') },
        ],
      },
    ],
  },
  {
    name: 'internal-policy/no-local-endpoint',
    title: 'With internalTrafficPolicy Local a node without an endpoint silently drops',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: { web: LOCAL },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: WEB, expect: answeredSeeing('own', 'a') },
          ...fromEach(['pod:far', 'node2', 'client@node2'], {
            to: WEB,
            expect: silent,
            escapes: false,
          }),
        ],
      },
    ],
  },
  {
    name: 'internal-policy/udp',
    title: 'internalTrafficPolicy Local holds for UDP as for TCP',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: {
      web: { ...LOCAL, ports: [{ name: 'u', port: 53, targetPort: 'udp', protocol: 'UDP' }] },
    },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: WEB, expect: answeredSeeing('own', 'a') },
          { from: 'node1', to: WEB, expect: answeredSeeing('node', 'a') },
          { from: 'pod:far', to: WEB, expect: silent, escapes: false },
        ],
      },
    ],
  },
  {
    name: 'internal-policy/host-network-endpoint',
    title: 'With internalTrafficPolicy Local an endpoint on the network of its node is local there',
    pods: {
      agent: on(1, { hostNetwork: true, ports: [{ name: 'tcp', port: 18082, protocol: 'TCP' }] }),
      near: asker(1),
      far: asker(2),
    },
    services: { web: LOCAL },
    steps: [
      {
        ask: [
          {
            from: 'pod:near',
            to: WEB,
            expect: answeredSeeing('own', 'agent'),
            otherwise: fromForwarderOnItsNode(answeredSeeing('node', 'agent')),
          },
          { from: 'node1', to: WEB, expect: answeredSeeing('node', 'agent') },
          ...fromEach(['pod:far', 'node2'], { to: WEB, expect: silent, escapes: false }),
        ],
      },
    ],
  },
  {
    name: 'internal-policy/no-endpoints',
    title: 'With internalTrafficPolicy Local and no endpoint anywhere every node refuses',
    pods: { near: asker(1), far: asker(2) },
    services: { web: LOCAL },
    steps: [
      {
        ask: fromEach(['pod:near', 'pod:far', 'node1', 'node2', 'client@node1'], {
          to: WEB,
          expect: refused,
          escapes: false,
        }),
      },
    ],
  },
  {
    name: 'internal-policy/last-local-endpoint-leaves',
    title:
      'With internalTrafficPolicy Local a node falls silent with its last endpoint and comes back',
    pods: { a: on(1), b: on(2), near: asker(1), far: asker(2) },
    services: { web: LOCAL },
    steps: [
      { ask: [{ from: 'pod:near', to: WEB, expect: answeredBy('a') }] },
      { change: [{ setReady: 'a', ready: false }] },
      {
        ask: [
          { from: 'pod:near', to: WEB, expect: silent, escapes: false },
          { from: 'pod:far', to: WEB, expect: answeredBy('b') },
        ],
      },
      { change: [{ setReady: 'a', ready: true }] },
      { ask: [{ from: 'pod:near', to: WEB, expect: answeredBy('a') }] },
    ],
  },
  {
    name: 'internal-policy/switch',
    title: 'Switching internalTrafficPolicy takes effect on every node',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: { web: LOCAL },
    steps: [
      { ask: [{ from: 'pod:far', to: WEB, expect: silent, escapes: false }] },
      { change: [{ patchService: 'web', to: { spec: { internalTrafficPolicy: 'Cluster' } } }] },
      { ask: fromEach(['pod:near', 'pod:far'], { to: WEB, expect: answeredSeeing('own', 'a') }) },
      { change: [{ patchService: 'web', to: { spec: { internalTrafficPolicy: 'Local' } } }] },
      {
        ask: [
          { from: 'pod:near', to: WEB, expect: answeredSeeing('own', 'a') },
          { from: 'pod:far', to: WEB, expect: silent, escapes: false },
        ],
      },
    ],
  },
  {
    name: 'internal-policy/not-for-node-ports',
    title: 'internalTrafficPolicy Local says nothing about the NodePort of the same Service',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: { web: { spec: { type: 'NodePort', internalTrafficPolicy: 'Local' } } },
    steps: [
      {
        ask: [
          { from: 'pod:far', to: WEB, expect: silent, escapes: false },
          ...fromEach(['client', 'pod:far', 'node2'], {
            to: nodePort('web', 2),
            expect: answeredSeeing('node', 'a'),
          }),
        ],
      },
    ],
  },
];
