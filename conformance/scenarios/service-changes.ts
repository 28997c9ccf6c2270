import type { KnownDifference, Scenario, Target } from '../scenario.ts';
import {
  answeredBy,
  asker,
  clusterIP,
  differently,
  IPTABLES,
  nodePort,
  on,
  RESET_BY_FORWARDER,
  refused,
  silent,
  UDP_PORT,
  vip,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const BOTH = answeredBy('a', 'b');

function oldPort(port: number): Target {
  return { clusterIP: 'web', port, protocol: 'TCP' };
}

function number(name: string): Target {
  return { nodePortNamed: name, node: 1, protocol: 'TCP' };
}

const LEAKS: KnownDifference = {
  expect: silent,
  escapes: true,
  reason: 'no rule matches, so packets leave the node by the default route',
};

export const serviceChangeScenarios: readonly Scenario[] = [
  {
    name: 'service-changes/port',
    title: 'When the port of a Service changes, the new one is served and the old one refused',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: BOTH }] },
      {
        change: [{ patchService: 'web', to: { ports: [{ port: 8000, targetPort: 'tcp' }] } }],
      },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web', 8000), expect: BOTH },
          {
            from: 'pod:near',
            to: oldPort(80),
            expect: refused,
            escapes: false,
            otherwise: differently(IPTABLES, LEAKS),
          },
        ],
      },
    ],
  },
  {
    name: 'service-changes/port-added-and-removed',
    title: 'A port added to a Service is served in addition to the first, until it is removed',
    pods: EVERYWHERE,
    services: { web: { ports: [{ name: 'one', port: 80, targetPort: 'tcp' }] } },
    steps: [
      {
        change: [
          {
            patchService: 'web',
            to: {
              ports: [
                { name: 'one', port: 80, targetPort: 'tcp' },
                { name: 'two', port: 81, targetPort: 'tcp' },
                UDP_PORT,
              ],
            },
          },
        ],
      },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web', 'one'), expect: BOTH },
          { from: 'pod:near', to: clusterIP('web', 'two'), expect: BOTH },
          { from: 'pod:near', to: clusterIP('web', 'dns'), expect: BOTH },
        ],
      },
      {
        change: [
          {
            patchService: 'web',
            to: { ports: [{ name: 'two', port: 81, targetPort: 'tcp' }] },
          },
        ],
      },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web', 'two'), expect: BOTH },
          {
            from: 'pod:near',
            to: oldPort(80),
            expect: refused,
            escapes: false,
            otherwise: differently(IPTABLES, LEAKS),
          },
        ],
      },
    ],
  },
  {
    name: 'service-changes/target-port',
    title: 'When the target port changes, connections reach the new one',
    // The pod serves only the second number, so that it shows which one is used.
    pods: { a: on(2, { ports: [{ port: 9090, protocol: 'TCP' }] }), near: asker(1) },
    services: { web: { ports: [{ port: 80, targetPort: 8080 }] } },
    steps: [
      {
        ask: [
          {
            from: 'pod:near',
            to: clusterIP('web'),
            expect: refused,
            otherwise: RESET_BY_FORWARDER,
          },
        ],
      },
      { change: [{ patchService: 'web', to: { ports: [{ port: 80, targetPort: 9090 }] } }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }] },
    ],
  },
  {
    name: 'service-changes/named-target-port',
    title: 'When the target port gets another name, the pods that have that name serve',
    pods: {
      a: on(1, { ports: [{ name: 'old', port: 8080, protocol: 'TCP' }] }),
      b: on(2, { ports: [{ name: 'new', port: 8080, protocol: 'TCP' }] }),
      near: asker(1),
    },
    services: { web: { ports: [{ port: 80, targetPort: 'old' }] } },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }] },
      { change: [{ patchService: 'web', to: { ports: [{ port: 80, targetPort: 'new' }] } }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('b') }] },
    ],
  },
  {
    name: 'service-changes/selector',
    title: 'When the selector changes, the newly selected pods serve and no others',
    pods: { ...EVERYWHERE, c: on(2, { app: 'next' }) },
    services: { web: {} },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: BOTH }] },
      { change: [{ patchService: 'web', to: { spec: { selector: { app: 'next' } } } }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('c') }] },
      { change: [{ patchService: 'web', to: { spec: { selector: { app: 'nobody' } } } }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: refused }] },
    ],
  },
  {
    name: 'service-changes/to-node-port-and-back',
    title: 'A Service that becomes a NodePort serves it, until it is a ClusterIP Service again',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { ask: [{ from: 'client', to: number('given'), expect: refused }] },
      {
        change: [
          {
            patchService: 'web',
            to: {
              spec: { type: 'NodePort' },
              ports: [{ port: 80, targetPort: 'tcp', nodePort: 'given' }],
            },
          },
        ],
      },
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: BOTH },
          { from: 'pod:near', to: clusterIP('web'), expect: BOTH },
        ],
      },
      {
        change: [
          {
            patchService: 'web',
            to: { spec: { type: 'ClusterIP' }, ports: [{ port: 80, targetPort: 'tcp' }] },
          },
        ],
      },
      {
        ask: [
          { from: 'client', to: number('given'), expect: refused },
          { from: 'pod:near', to: clusterIP('web'), expect: BOTH },
        ],
      },
    ],
  },
  {
    name: 'service-changes/node-port-number',
    title: 'When the NodePort changes, the new number is served and the old one refused',
    pods: EVERYWHERE,
    services: {
      web: {
        spec: { type: 'NodePort' },
        ports: [{ port: 80, targetPort: 'tcp', nodePort: 'first' }],
      },
    },
    steps: [
      { ask: [{ from: 'client', to: nodePort('web', 1), expect: BOTH }] },
      {
        change: [
          {
            patchService: 'web',
            to: { ports: [{ port: 80, targetPort: 'tcp', nodePort: 'second' }] },
          },
        ],
      },
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: BOTH },
          { from: 'client', to: number('first'), expect: refused },
        ],
      },
    ],
  },
  {
    name: 'service-changes/load-balancer-ip',
    title: 'A load-balancer IP is served from when the cloud gives it until it takes it away',
    pods: EVERYWHERE,
    services: { web: { spec: { type: 'LoadBalancer' } } },
    steps: [
      { ask: [{ from: 'client@node1', to: vip('lb', 'web'), expect: silent, escapes: true }] },
      { change: [{ patchService: 'web', to: { loadBalancer: [{ name: 'lb' }] } }] },
      { ask: [{ from: 'client@node1', to: vip('lb', 'web'), expect: BOTH }] },
      { change: [{ patchService: 'web', to: { loadBalancer: [{ name: 'other' }] } }] },
      {
        ask: [
          { from: 'client@node1', to: vip('other', 'web'), expect: BOTH },
          { from: 'client@node1', to: vip('lb', 'web'), expect: silent, escapes: true },
        ],
      },
    ],
  },
];
