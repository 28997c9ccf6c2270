import type { Scenario } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  fromEach,
  nodePort,
  on,
  refused,
  silent,
  vip,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const WEB = clusterIP('web');

export const terminatingScenarios: readonly Scenario[] = [
  {
    name: 'terminating/ready-ones-first',
    title: 'A terminating endpoint gets no new connection while another endpoint is ready',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { change: [{ terminate: 'a' }] },
      {
        ask: fromEach(['pod:near', 'pod:far', 'node1', 'client@node1'], {
          to: WEB,
          expect: answeredBy('b'),
        }),
      },
    ],
  },
  {
    name: 'terminating/cluster-ip',
    title: 'When every endpoint is terminating, those that still serve are used',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { change: [{ terminate: 'a' }, { terminate: 'b' }] },
      {
        ask: [
          ...fromEach(['pod:near', 'pod:far'], {
            to: WEB,
            expect: answeredSeeing('own', 'a', 'b'),
          }),
          ...fromEach(['node1', 'client@node2'], {
            to: WEB,
            expect: answeredSeeing('node', 'a', 'b'),
          }),
        ],
      },
    ],
  },
  {
    name: 'terminating/udp',
    title: 'When every endpoint of a UDP port is terminating, those that still serve are used',
    pods: EVERYWHERE,
    services: { web: { ports: [{ name: 'u', port: 53, targetPort: 'udp', protocol: 'UDP' }] } },
    steps: [
      { change: [{ terminate: 'a' }, { terminate: 'b' }] },
      { ask: fromEach(['pod:near', 'node2'], { to: WEB, expect: answeredBy('a', 'b') }) },
    ],
  },
  {
    name: 'terminating/not-serving',
    title: 'A terminating endpoint that no longer serves is never used',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { change: [{ terminate: 'a' }, { terminate: 'b' }, { setReady: 'a', ready: false }] },
      { ask: fromEach(['pod:near', 'pod:far'], { to: WEB, expect: answeredBy('b') }) },
      { change: [{ setReady: 'b', ready: false }] },
      { ask: fromEach(['pod:near', 'pod:far', 'node1'], { to: WEB, expect: refused }) },
    ],
  },
  {
    name: 'terminating/not-ready-is-no-fallback',
    title: 'Terminating endpoints that serve are used, one that is only not ready is not',
    pods: { a: on(1, { ready: false }), b: on(2), near: asker(1), far: asker(2) },
    services: { web: {} },
    steps: [
      { ask: [{ from: 'pod:near', to: WEB, expect: answeredBy('b') }] },
      { change: [{ terminate: 'b' }] },
      { ask: fromEach(['pod:near', 'pod:far'], { to: WEB, expect: answeredBy('b') }) },
      { change: [{ setReady: 'a', ready: true }] },
      { ask: fromEach(['pod:near', 'pod:far'], { to: WEB, expect: answeredBy('a') }) },
    ],
  },
  {
    name: 'terminating/ready-one-comes-back',
    title: 'New connections leave the terminating endpoints as soon as one is ready',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { change: [{ terminate: 'a' }, { terminate: 'b' }] },
      { ask: [{ from: 'pod:near', to: WEB, expect: answeredBy('a', 'b') }] },
      { change: [{ addPod: 'c', pod: on(2) }] },
      { ask: fromEach(['pod:near', 'pod:far'], { to: WEB, expect: answeredBy('c') }) },
      { change: [{ removePod: 'a' }, { removePod: 'b' }, { terminate: 'c' }] },
      { ask: fromEach(['pod:near', 'pod:far'], { to: WEB, expect: answeredBy('c') }) },
      { change: [{ removePod: 'c' }] },
      { ask: fromEach(['pod:near', 'pod:far'], { to: WEB, expect: refused }) },
    ],
  },
  {
    name: 'terminating/internal-policy-local',
    title:
      'With internalTrafficPolicy Local a node keeps to its terminating endpoint, even if another node has a ready one',
    pods: EVERYWHERE,
    services: { web: { spec: { internalTrafficPolicy: 'Local' } } },
    steps: [
      { change: [{ terminate: 'a' }] },
      {
        ask: [
          { from: 'pod:near', to: WEB, expect: answeredSeeing('own', 'a') },
          { from: 'node1', to: WEB, expect: answeredSeeing('node', 'a') },
          { from: 'pod:far', to: WEB, expect: answeredSeeing('own', 'b') },
        ],
      },
      { change: [{ setReady: 'a', ready: false }] },
      {
        ask: [
          { from: 'pod:near', to: WEB, expect: silent, escapes: false },
          { from: 'pod:far', to: WEB, expect: answeredSeeing('own', 'b') },
        ],
      },
    ],
  },
  {
    name: 'terminating/internal-policy-local-ready-first',
    title:
      'With internalTrafficPolicy Local a ready endpoint of the node is preferred to its terminating one',
    pods: { ...EVERYWHERE, a2: on(1) },
    services: { web: { spec: { internalTrafficPolicy: 'Local' } } },
    steps: [
      { change: [{ terminate: 'a' }] },
      { ask: [{ from: 'pod:near', to: WEB, expect: answeredBy('a2') }] },
      { change: [{ removePod: 'a2' }] },
      { ask: [{ from: 'pod:near', to: WEB, expect: answeredBy('a') }] },
    ],
  },
  {
    name: 'terminating/node-port',
    title: 'When every endpoint is terminating, a NodePort is served by those that still serve',
    pods: EVERYWHERE,
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      { change: [{ terminate: 'a' }] },
      { ask: [{ from: 'client', to: nodePort('web', 1), expect: answeredBy('b') }] },
      { change: [{ terminate: 'b' }] },
      {
        ask: fromEach(['client', 'pod:near', 'node2'], {
          to: nodePort('web', 1),
          expect: answeredSeeing('node', 'a', 'b'),
        }),
      },
    ],
  },
  {
    name: 'terminating/external-policy-local',
    title:
      'With externalTrafficPolicy Local a node serves clients from its terminating endpoint until it is gone',
    pods: EVERYWHERE,
    services: { web: { spec: { type: 'NodePort', externalTrafficPolicy: 'Local' } } },
    steps: [
      { change: [{ terminate: 'a' }] },
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('own', 'a') },
          { from: 'client', to: nodePort('web', 2), expect: answeredSeeing('own', 'b') },
          // Those inside the cluster may use every endpoint, so a ready one is enough.
          { from: 'pod:near', to: nodePort('web', 1), expect: answeredSeeing('own', 'b') },
          { from: 'node1', to: nodePort('web', 1), expect: answeredSeeing('node', 'b') },
        ],
      },
      { change: [{ removePod: 'a' }] },
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: silent },
          { from: 'client', to: nodePort('web', 2), expect: answeredSeeing('own', 'b') },
        ],
      },
    ],
  },
  {
    name: 'terminating/load-balancer-local',
    title:
      'With externalTrafficPolicy Local a load-balancer IP is served by a terminating endpoint of the node',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: {
      web: {
        loadBalancer: [{ name: 'lb' }],
        spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      },
    },
    steps: [
      { change: [{ terminate: 'a' }] },
      {
        ask: [
          { from: 'client@node1', to: vip('lb', 'web'), expect: answeredSeeing('own', 'a') },
          { from: 'client@node2', to: vip('lb', 'web'), expect: silent, escapes: false },
          { from: 'pod:far', to: vip('lb', 'web'), expect: answeredSeeing('own', 'a') },
        ],
      },
    ],
  },
  {
    name: 'terminating/publish-not-ready-addresses',
    title: 'With publishNotReadyAddresses endpoints are used whether ready, terminating or neither',
    pods: { a: on(1, { ready: false }), b: on(2), near: asker(1), far: asker(2) },
    services: { web: { spec: { publishNotReadyAddresses: true } } },
    steps: [
      { ask: fromEach(['pod:near', 'pod:far'], { to: WEB, expect: answeredBy('a', 'b') }) },
      { change: [{ terminate: 'b' }] },
      { ask: fromEach(['pod:near', 'pod:far'], { to: WEB, expect: answeredBy('a', 'b') }) },
      { change: [{ setReady: 'b', ready: false }] },
      { ask: fromEach(['pod:near', 'pod:far'], { to: WEB, expect: answeredBy('a', 'b') }) },
    ],
  },
];
