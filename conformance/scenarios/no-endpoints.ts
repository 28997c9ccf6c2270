import type { Answer, KnownDifference, Scenario } from '../scenario.ts';
import {
  answeredBy,
  asker,
  clusterIP,
  differently,
  fromEach,
  IPTABLES,
  nodePort,
  on,
  refused,
  silent,
  UDP_PORT,
  UPSTREAM,
  vip,
} from '../words.ts';

const ASKERS = { near: asker(1), far: asker(2) };
const TCP_AND_UDP = [{ name: 'web', port: 80, targetPort: 'tcp' }, UDP_PORT];
const IN_AND_OUT = ['pod:near', 'pod:far', 'client@node1', 'machine@node2'];

const AT_ONCE: Answer = { refused: true, withinMs: 1_000 };
const AFTER_A_SECOND: KnownDifference = {
  expect: { refused: true, notBeforeMs: 900, withinMs: 1_500 },
  reason:
    'the rejection is an ICMPv6 error, which a client on the same machine notices only at its first retransmission, a second later',
};
const LEAKS: KnownDifference = {
  expect: silent,
  escapes: true,
  reason:
    'packets of the node itself to an external address pass no rule that rejects, so they leave the node by the default route',
};

export const noEndpointsScenarios: readonly Scenario[] = [
  {
    name: 'no-endpoints/cluster-ip',
    title: 'A ClusterIP without endpoints rejects every client at once',
    pods: ASKERS,
    services: { web: { ports: TCP_AND_UDP } },
    steps: [
      {
        ask: ['web', 'dns'].flatMap((port) =>
          fromEach([...IN_AND_OUT, 'node1', 'node2'], {
            to: clusterIP('web', port),
            expect: refused,
            escapes: false,
          }),
        ),
      },
    ],
  },
  {
    name: 'no-endpoints/node-port',
    title: 'A NodePort without endpoints rejects every client at once',
    pods: ASKERS,
    services: { web: { ports: TCP_AND_UDP, spec: { type: 'NodePort' } } },
    steps: [
      {
        ask: ['web', 'dns'].flatMap((port) => [
          ...fromEach(['client', 'machine', 'pod:near', 'pod:far', 'node1', 'node2'], {
            to: nodePort('web', 1, port),
            expect: refused,
          }),
        ]),
      },
    ],
  },
  {
    name: 'no-endpoints/external-ip',
    title: 'An external IP without endpoints refuses pods and clients outside at once',
    pods: ASKERS,
    services: { web: { ports: TCP_AND_UDP, externalIPs: ['external'] } },
    steps: [
      {
        ask: ['web', 'dns'].flatMap((port) =>
          fromEach(IN_AND_OUT, {
            to: vip('external', 'web', port),
            expect: refused,
            escapes: false,
          }),
        ),
      },
    ],
  },
  {
    name: 'no-endpoints/load-balancer-ip',
    title: 'A load-balancer IP without endpoints refuses pods and clients outside at once',
    pods: ASKERS,
    services: {
      web: {
        ports: TCP_AND_UDP,
        loadBalancer: [{ name: 'lb' }],
        spec: { type: 'LoadBalancer' },
      },
    },
    steps: [
      {
        ask: ['web', 'dns'].flatMap((port) =>
          fromEach(IN_AND_OUT, { to: vip('lb', 'web', port), expect: refused, escapes: false }),
        ),
      },
    ],
  },
  {
    name: 'no-endpoints/external-addresses-from-nodes',
    title: 'External and load-balancer IPs without endpoints refuse the nodes themselves too',
    services: {
      web: {
        loadBalancer: [{ name: 'lb' }],
        externalIPs: ['external'],
        spec: { type: 'LoadBalancer' },
      },
    },
    steps: [
      {
        ask: ['lb', 'external'].map((address) => ({
          from: 'node1',
          to: vip(address, 'web'),
          expect: refused,
          escapes: false,
          otherwise: differently(IPTABLES, LEAKS),
        })),
      },
    ],
  },
  {
    name: 'no-endpoints/local-policies',
    title: 'Traffic policies Local change nothing about a Service without endpoints: it refuses',
    pods: ASKERS,
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
          ...fromEach(['pod:near', 'node2'], { to: clusterIP('web'), expect: refused }),
          ...fromEach(['client@node1', 'pod:far'], { to: vip('lb', 'web'), expect: refused }),
          ...fromEach(['client', 'node1'], { to: nodePort('web', 1), expect: refused }),
        ],
      },
    ],
  },
  {
    name: 'no-endpoints/none-ready',
    title: 'Endpoints of which none is ready are as good as none: refused',
    pods: { a: on(1, { ready: false }), b: on(2, { ready: false }), ...ASKERS },
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'pod:far', 'node1'], { to: clusterIP('web'), expect: refused }),
          { from: 'client', to: nodePort('web', 2), expect: refused },
        ],
      },
    ],
  },
  {
    name: 'no-endpoints/come-and-go',
    title: 'A Service refuses until its first endpoint comes and again when its last one is gone',
    pods: ASKERS,
    services: {
      web: {
        ports: TCP_AND_UDP,
        loadBalancer: [{ name: 'lb' }],
        spec: { type: 'LoadBalancer' },
      },
    },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web', 'web'), expect: refused },
          { from: 'pod:near', to: clusterIP('web', 'dns'), expect: refused },
          { from: 'client@node1', to: vip('lb', 'web'), expect: refused },
        ],
      },
      { change: [{ addPod: 'a', pod: on(2) }] },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web', 'web'), expect: answeredBy('a') },
          { from: 'pod:near', to: clusterIP('web', 'dns'), expect: answeredBy('a') },
          { from: 'client@node1', to: vip('lb', 'web'), expect: answeredBy('a') },
          { from: 'client', to: nodePort('web', 1, 'web'), expect: answeredBy('a') },
        ],
      },
      { change: [{ removePod: 'a' }] },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web', 'web'), expect: refused },
          { from: 'pod:near', to: clusterIP('web', 'dns'), expect: refused },
          { from: 'client@node1', to: vip('lb', 'web'), expect: refused },
          { from: 'client', to: nodePort('web', 1, 'web'), expect: refused },
        ],
      },
    ],
  },
  {
    name: 'no-endpoints/refused-within-a-second-in-ipv6',
    title: 'A refusal reaches an IPv6 client within a second, as it does an IPv4 client',
    families: ['ipv6'],
    pods: ASKERS,
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'client@node2'], {
            to: clusterIP('web'),
            expect: AT_ONCE,
            otherwise: differently([...UPSTREAM, ...IPTABLES], AFTER_A_SECOND),
          }),
          {
            from: 'client',
            to: nodePort('web', 1),
            expect: AT_ONCE,
            otherwise: differently([...UPSTREAM, ...IPTABLES], AFTER_A_SECOND),
          },
        ],
      },
    ],
  },
];
