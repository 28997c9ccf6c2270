import type { Scenario } from '../scenario.ts';
import {
  affinityOfIpvs,
  answeredBy,
  asker,
  clusterIP,
  fromEach,
  movesAmong,
  nodePort,
  on,
  stickyTo,
  UDP_PORT,
  vip,
} from '../words.ts';

const THREE = { a: on(1), b: on(2), c: on(1), near: asker(1), far: asker(2) };
/** Only `a` can be chosen at first, so the endpoint of the client is known. */
const ONE_OF_THREE = { ...THREE, b: on(2, { ready: false }), c: on(1, { ready: false }) };
const ANY = stickyTo('a', 'b', 'c');
const STICKY = { sessionAffinity: 'ClientIP' };

function stickyFor(timeoutSeconds: number): Readonly<Record<string, unknown>> {
  return { ...STICKY, sessionAffinityConfig: { clientIP: { timeoutSeconds } } };
}

/** Enough endpoints that a client without affinity changes nearly every time. */
const SIX = ['a', 'b', 'c', 'd', 'e', 'f'];
const SIX_PODS = Object.fromEntries(SIX.map((name, index) => [name, on(1 + (index % 2))]));

export const affinityScenarios: readonly Scenario[] = [
  {
    name: 'affinity/pods-to-cluster-ip',
    title: 'With ClientIP affinity, every connection of one pod reaches the same endpoint',
    pods: THREE,
    services: { web: { spec: STICKY } },
    steps: [{ ask: fromEach(['pod:near', 'pod:far'], { to: clusterIP('web'), expect: ANY }) }],
  },
  {
    name: 'affinity/nodes-to-cluster-ip',
    title: 'With ClientIP affinity, every connection of one node reaches the same endpoint',
    pods: THREE,
    services: { web: { spec: STICKY } },
    steps: [{ ask: fromEach(['node1', 'node2'], { to: clusterIP('web'), expect: ANY }) }],
  },
  {
    name: 'affinity/outside-to-node-port',
    title: 'With ClientIP affinity, a node sends one client outside to the same endpoint',
    pods: THREE,
    services: { web: { spec: { ...STICKY, type: 'NodePort' } } },
    steps: [
      {
        ask: [
          ...fromEach(['client', 'machine'], { to: nodePort('web', 1), expect: ANY }),
          { from: 'client', to: nodePort('web', 2), expect: ANY },
        ],
      },
    ],
  },
  {
    name: 'affinity/outside-to-load-balancer-ip',
    title: 'ClientIP affinity holds for load-balancer and external IPs',
    pods: THREE,
    services: {
      web: {
        spec: { ...STICKY, type: 'LoadBalancer' },
        loadBalancer: [{ name: 'lb' }],
        externalIPs: ['external'],
      },
    },
    steps: [
      {
        ask: [
          { from: 'client@node1', to: vip('lb', 'web'), expect: ANY },
          { from: 'client@node2', to: vip('external', 'web'), expect: ANY },
          { from: 'pod:far', to: vip('lb', 'web'), expect: ANY },
        ],
      },
    ],
  },
  {
    name: 'affinity/udp',
    title: 'ClientIP affinity holds for UDP, whichever port a client sends from',
    pods: THREE,
    services: { web: { spec: { ...STICKY, type: 'NodePort' }, ports: [UDP_PORT] } },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'node2'], { to: clusterIP('web'), expect: ANY }),
          { from: 'client', to: nodePort('web', 1), expect: ANY },
        ],
      },
    ],
  },
  {
    name: 'affinity/local-endpoints',
    title: 'With externalTrafficPolicy Local, a client sticks to an endpoint of that node',
    pods: THREE,
    services: {
      web: { spec: { ...STICKY, type: 'NodePort', externalTrafficPolicy: 'Local' } },
    },
    steps: [
      {
        ask: [
          {
            from: 'client',
            to: nodePort('web', 1),
            expect: { stickyTo: ['a', 'c'], source: 'own' },
          },
          { from: 'client', to: nodePort('web', 2), expect: { stickyTo: ['b'], source: 'own' } },
        ],
      },
    ],
  },
  {
    name: 'affinity/kept-when-endpoints-join',
    title: 'A client stays with its endpoint when others join; a new client may get any',
    pods: { ...ONE_OF_THREE, late: asker(1) },
    services: { web: { spec: { ...STICKY, type: 'NodePort' } } },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'node2'], { to: clusterIP('web'), expect: stickyTo('a') }),
          { from: 'client', to: nodePort('web', 1), expect: stickyTo('a') },
        ],
      },
      {
        change: [
          { setReady: 'b', ready: true },
          { setReady: 'c', ready: true },
        ],
      },
      {
        ask: [
          ...fromEach(['pod:near', 'node2'], { to: clusterIP('web'), expect: stickyTo('a') }),
          { from: 'client', to: nodePort('web', 1), expect: stickyTo('a') },
          { from: 'pod:late', to: clusterIP('web'), expect: ANY },
        ],
      },
    ],
  },
  {
    name: 'affinity/leaves-an-unready-endpoint',
    title: 'A client whose endpoint stops being ready moves to another and sticks to that one',
    pods: ONE_OF_THREE,
    services: { web: { spec: STICKY } },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: stickyTo('a') }] },
      {
        change: [
          { setReady: 'b', ready: true },
          { setReady: 'c', ready: true },
        ],
      },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: stickyTo('a') }] },
      { change: [{ setReady: 'a', ready: false }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: stickyTo('b', 'c') }] },
    ],
  },
  {
    name: 'affinity/leaves-a-removed-endpoint',
    title: 'A client whose endpoint is removed moves to another and sticks to that one',
    pods: ONE_OF_THREE,
    services: {
      web: { spec: STICKY, ports: [{ name: 'web', port: 80, targetPort: 'tcp' }, UDP_PORT] },
    },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web', 'web'), expect: stickyTo('a') },
          { from: 'pod:near', to: clusterIP('web', 'dns'), expect: stickyTo('a') },
        ],
      },
      {
        change: [
          { removePod: 'a' },
          { setReady: 'b', ready: true },
          { setReady: 'c', ready: true },
        ],
      },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web', 'web'), expect: stickyTo('b', 'c') },
          { from: 'pod:near', to: clusterIP('web', 'dns'), expect: stickyTo('b', 'c') },
        ],
      },
    ],
  },
  {
    name: 'affinity/expires',
    title: 'A client that was quiet for longer than the affinity timeout may get another endpoint',
    pods: { ...SIX_PODS, near: asker(1) },
    services: { web: { spec: stickyFor(2) } },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: stickyTo(...SIX) }] },
      {
        ask: [
          {
            from: 'pod:near',
            to: clusterIP('web'),
            connections: 8,
            apartMs: 2_500,
            expect: movesAmong(...SIX),
            otherwise: affinityOfIpvs(...SIX),
          },
        ],
      },
    ],
  },
  {
    name: 'affinity/renewed-by-each-connection',
    title: 'The affinity timeout counts from the last connection, not from the first',
    pods: { ...SIX_PODS, near: asker(1) },
    services: { web: { spec: stickyFor(3) } },
    steps: [
      {
        ask: [
          {
            from: 'pod:near',
            to: clusterIP('web'),
            connections: 6,
            apartMs: 1_500,
            expect: stickyTo(...SIX),
          },
        ],
      },
    ],
  },
  {
    name: 'affinity/switched-on-and-off',
    title: 'Affinity begins and ends when the Service switches it on and off',
    pods: THREE,
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b', 'c') },
          { from: 'client', to: nodePort('web', 1), expect: answeredBy('a', 'b', 'c') },
        ],
      },
      { change: [{ patchService: 'web', to: { spec: STICKY } }] },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: ANY },
          { from: 'client', to: nodePort('web', 1), expect: ANY },
        ],
      },
      {
        change: [
          {
            patchService: 'web',
            to: { spec: { sessionAffinity: 'None', sessionAffinityConfig: null } },
          },
        ],
      },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b', 'c') },
          { from: 'client', to: nodePort('web', 1), expect: answeredBy('a', 'b', 'c') },
        ],
      },
    ],
  },
];
