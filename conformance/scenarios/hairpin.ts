import type { Scenario } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  differently,
  fromEach,
  fromForwarderToNeighbours,
  nodePort,
  on,
  POD_SOCKET_HOOKS,
  UDP_PORT,
  vip,
} from '../words.ts';

const TCP_AND_UDP = [{ name: 'web', port: 80, targetPort: 'tcp' }, UDP_PORT];
const BRIDGE = { podNetwork: 'bridge' } as const;
/** A pod that saw its own address as the source would answer itself, past its node. */
const MASKED = answeredSeeing('node', 'a');
/** Where a socket is led to the pod's own address, no packet leaves the pod. */
const UNMASKED = differently(POD_SOCKET_HOOKS, {
  expect: answeredSeeing('own', 'a'),
  reason:
    'the socket of the pod is connected to the pod itself, so there is no packet to masquerade',
});

export const hairpinScenarios: readonly Scenario[] = [
  {
    name: 'hairpin/cluster-ip',
    title: 'A pod reaches itself through a ClusterIP and sees its node as the source',
    pods: { a: on(1) },
    services: { web: { ports: TCP_AND_UDP } },
    steps: [
      {
        ask: [
          { from: 'pod:a', to: clusterIP('web', 'web'), expect: MASKED, otherwise: UNMASKED },
          { from: 'pod:a', to: clusterIP('web', 'dns'), expect: MASKED, otherwise: UNMASKED },
        ],
      },
    ],
  },
  {
    name: 'hairpin/one-of-several',
    title: 'An endpoint of a Service reaches every endpoint of it, itself included',
    pods: { a: on(1), b: on(1), c: on(2) },
    services: { web: { ports: TCP_AND_UDP } },
    steps: [
      {
        ask: [
          ...fromEach(['pod:a', 'pod:c'], {
            to: clusterIP('web', 'web'),
            expect: answeredBy('a', 'b', 'c'),
          }),
          { from: 'pod:b', to: clusterIP('web', 'dns'), expect: answeredBy('a', 'b', 'c') },
        ],
      },
    ],
  },
  {
    name: 'hairpin/node-port',
    title: 'A pod reaches itself through a NodePort of its own node and of another',
    pods: { a: on(1) },
    services: { web: { ports: TCP_AND_UDP, spec: { type: 'NodePort' } } },
    steps: [
      {
        ask: ['web', 'dns'].flatMap((port) => [
          { from: 'pod:a', to: nodePort('web', 1, port), expect: MASKED },
          { from: 'pod:a', to: nodePort('web', 2, port), expect: MASKED },
        ]),
      },
    ],
  },
  {
    name: 'hairpin/external-addresses',
    title: 'A pod reaches itself through a load-balancer IP and an external IP',
    pods: { a: on(1) },
    services: {
      web: {
        ports: TCP_AND_UDP,
        loadBalancer: [{ name: 'lb' }],
        externalIPs: ['external'],
        spec: { type: 'LoadBalancer' },
      },
    },
    steps: [
      {
        ask: ['lb', 'external'].flatMap((address) => [
          { from: 'pod:a', to: vip(address, 'web', 'web'), expect: MASKED },
          { from: 'pod:a', to: vip(address, 'web', 'dns'), expect: MASKED },
        ]),
      },
    ],
  },
  {
    name: 'hairpin/local-policies',
    title: 'A pod reaches itself also where traffic policies keep source addresses',
    pods: { a: on(1) },
    services: {
      web: {
        loadBalancer: [{ name: 'lb' }],
        spec: {
          type: 'LoadBalancer',
          externalTrafficPolicy: 'Local',
          internalTrafficPolicy: 'Local',
        },
      },
    },
    steps: [
      {
        ask: [
          { from: 'pod:a', to: clusterIP('web'), expect: MASKED, otherwise: UNMASKED },
          { from: 'pod:a', to: vip('lb', 'web'), expect: MASKED, otherwise: UNMASKED },
          { from: 'pod:a', to: nodePort('web', 1), expect: MASKED, otherwise: UNMASKED },
        ],
      },
    ],
  },
  {
    name: 'hairpin/host-network',
    title:
      'A pod that uses the network of its node reaches itself through a ClusterIP and NodePort',
    pods: {
      h: on(1, { hostNetwork: true, ports: [{ name: 'tcp', port: 18091, protocol: 'TCP' }] }),
    },
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      {
        ask: [
          { from: 'pod:h', to: clusterIP('web'), expect: answeredSeeing('node', 'h') },
          { from: 'pod:h', to: nodePort('web', 1), expect: answeredSeeing('node', 'h') },
        ],
      },
    ],
  },
  {
    name: 'hairpin/bridge-cluster-ip',
    title: 'On a bridge, a pod reaches itself through a ClusterIP and sees its node as the source',
    setup: BRIDGE,
    pods: { a: on(1) },
    services: { web: { ports: TCP_AND_UDP } },
    steps: [
      {
        ask: [
          { from: 'pod:a', to: clusterIP('web', 'web'), expect: MASKED, otherwise: UNMASKED },
          { from: 'pod:a', to: clusterIP('web', 'dns'), expect: MASKED, otherwise: UNMASKED },
        ],
      },
    ],
  },
  {
    name: 'hairpin/bridge-external-addresses',
    title: 'On a bridge, a pod reaches itself through a NodePort and a load-balancer IP',
    setup: BRIDGE,
    pods: { a: on(1) },
    services: {
      web: {
        ports: TCP_AND_UDP,
        loadBalancer: [{ name: 'lb' }],
        spec: { type: 'LoadBalancer' },
      },
    },
    steps: [
      {
        ask: ['web', 'dns'].flatMap((port) => [
          { from: 'pod:a', to: nodePort('web', 1, port), expect: MASKED },
          { from: 'pod:a', to: nodePort('web', 2, port), expect: MASKED },
          { from: 'pod:a', to: vip('lb', 'web', port), expect: MASKED },
        ]),
      },
    ],
  },
  {
    name: 'hairpin/bridge-neighbours',
    title: 'Pods on one bridge reach each other through a ClusterIP and keep their address',
    setup: BRIDGE,
    pods: { a: on(1), b: on(2), near: asker(1), far: asker(2) },
    services: { web: { ports: TCP_AND_UDP } },
    steps: [
      {
        ask: ['web', 'dns'].flatMap((port) =>
          fromEach(['pod:near', 'pod:far'], {
            to: clusterIP('web', port),
            expect: answeredSeeing('own', 'a', 'b'),
            ...(port === 'web' ? { otherwise: fromForwarderToNeighbours('a', 'b') } : {}),
          }),
        ),
      },
    ],
  },
];
