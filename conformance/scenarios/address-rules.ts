import type { Allowance } from '../../lab/proxies/contract.ts';
import type { KnownDifference, Scenario, ServiceDeclaration, Step } from '../scenario.ts';
import {
  answeredBy,
  asker,
  clusterIP,
  differently,
  fromEach,
  nodePort,
  on,
  podIP,
  silent,
  stickyTo,
  UPSTREAM,
  unserved,
  vip,
} from '../words.ts';

const PODS = {
  a: on(1, { app: 'honest' }),
  b: on(2, { app: 'thief' }),
  near: asker(1),
  far: asker(2),
};
const INSIDE = ['pod:near', 'pod:far', 'node1'];
const ASKERS = ['pod:near', 'pod:far', 'client@node1'];

/** The API counts ages in seconds: what is asked here takes two. */
const A_MOMENT_LATER: Step = {
  ask: [
    {
      from: 'pod:near',
      to: { address: 'nobody', port: 81, protocol: 'TCP' },
      expect: silent,
      escapes: true,
    },
  ],
};

const BY_CHANCE: KnownDifference = {
  expect: stickyTo('a', 'b'),
  reason: 'which of two Services with the same address and port is served is random',
};

const externally = (
  address: string,
  port: ServiceDeclaration['ports'] = [{ port: 80, targetPort: 'tcp' }],
): ServiceDeclaration => ({ externalIPs: [address], ports: port });

const LISTED_SOCKETS: Allowance = {
  withinMs: 10_000,
  reason:
    'the kernel sends no event for a bound socket, so sockets are polled every second, and less often if that takes long (docs/decisions/0027-address-rules.md)',
};

/** What an external IP, which any owner of a Service may write, must not take from others. */
export const addressRuleScenarios: readonly Scenario[] = [
  {
    name: 'address-rules/cluster-ip-before-external-ip',
    title:
      'A cluster IP is served for its Service, however old a Service with it as external IP is',
    pods: PODS,
    services: { thief: externally('cluster-ip:honest') },
    steps: [
      A_MOMENT_LATER,
      { change: [{ createService: 'honest', service: { fixedClusterIPs: true } }] },
      {
        ask: fromEach(INSIDE, {
          to: clusterIP('honest'),
          expect: answeredBy('a'),
          otherwise: differently(UPSTREAM, BY_CHANCE),
        }),
      },
    ],
  },
  {
    name: 'address-rules/load-balancer-before-external-ip',
    title: "A load balancer's address is served for its Service, however old the other Service is",
    pods: PODS,
    services: { thief: externally('lb') },
    steps: [
      { ask: fromEach(ASKERS, { to: vip('lb', 'thief'), expect: answeredBy('b') }) },
      A_MOMENT_LATER,
      {
        change: [
          {
            createService: 'honest',
            service: { loadBalancer: [{ name: 'lb' }], spec: { type: 'LoadBalancer' } },
          },
        ],
      },
      {
        ask: fromEach(ASKERS, {
          to: vip('lb', 'honest'),
          expect: answeredBy('a'),
          otherwise: differently(UPSTREAM, BY_CHANCE),
        }),
      },
      { change: [{ deleteService: 'honest' }] },
      { ask: fromEach(ASKERS, { to: vip('lb', 'thief'), expect: answeredBy('b') }) },
    ],
  },
  {
    name: 'address-rules/no-external-ip-in-the-service-range',
    title: 'An external IP that the API server may assign to a Service is not served',
    pods: PODS,
    services: { thief: externally('cluster-ip:later'), honest: {} },
    steps: [
      {
        ask: [
          ...fromEach(INSIDE, {
            to: vip('cluster-ip:later', 'thief'),
            expect: unserved,
            otherwise: differently(UPSTREAM, {
              expect: answeredBy('b'),
              reason: 'external IPs in the Service ranges are served',
            }),
          }),
          { from: 'pod:near', to: clusterIP('thief'), expect: answeredBy('b') },
        ],
      },
    ],
  },
  {
    name: 'address-rules/no-other-port-of-a-cluster-ip',
    title: 'An external IP adds no port to the cluster IP of another Service',
    pods: PODS,
    services: {
      honest: { fixedClusterIPs: true },
      thief: externally('cluster-ip:honest', [{ port: 443, targetPort: 'tcp' }]),
    },
    steps: [
      {
        ask: [
          ...fromEach(INSIDE, {
            to: vip('cluster-ip:honest', 'thief'),
            expect: unserved,
            otherwise: differently(UPSTREAM, {
              expect: answeredBy('b'),
              reason: 'external IPs in the Service ranges are served',
            }),
          }),
          { from: 'pod:near', to: clusterIP('honest'), expect: answeredBy('a') },
        ],
      },
    ],
  },
  {
    name: 'address-rules/an-address-of-the-node',
    title: 'An external IP of the node is served, but not on a port that a process of it holds',
    pods: {
      ...PODS,
      daemon: on(1, {
        app: 'daemon',
        hostNetwork: true,
        ports: [{ name: 'tcp', port: 7946, protocol: 'TCP' }],
      }),
    },
    services: {
      honest: externally('node:1', [{ port: 7947, targetPort: 'tcp' }]),
    },
    steps: [
      { ask: [{ from: 'client', to: podIP('daemon', 7946), expect: answeredBy('daemon') }] },
      {
        change: [
          {
            createService: 'thief',
            service: externally('node:1', [{ port: 7946, targetPort: 'tcp' }]),
          },
        ],
      },
      {
        ask: [
          ...fromEach(['client', 'pod:near', 'node1'], {
            to: vip('node:1', 'honest'),
            expect: answeredBy('a'),
          }),
          ...fromEach(['client', 'pod:near', 'node1'], {
            to: vip('node:1', 'thief'),
            expect: answeredBy('daemon'),
            settles: LISTED_SOCKETS,
            otherwise: differently(UPSTREAM, {
              expect: answeredBy('b'),
              reason: 'connections to the process go to the Service instead',
            }),
          }),
        ],
      },
    ],
  },
  {
    name: 'address-rules/no-node-port-of-another-service',
    title: 'An external IP of the node does not hide the node port of another Service',
    pods: PODS,
    services: {
      honest: {
        ports: [{ port: 80, targetPort: 'tcp', nodePort: 'number' }],
        spec: { type: 'NodePort' },
      },
    },
    steps: [
      { ask: [{ from: 'client', to: nodePort('honest', 1), expect: answeredBy('a') }] },
      {
        change: [
          {
            createService: 'thief',
            service: externally('node:1', [{ port: 0, numberOf: 'number', targetPort: 'tcp' }]),
          },
        ],
      },
      {
        ask: fromEach(['client', 'pod:near', 'node1'], {
          to: nodePort('honest', 1),
          expect: answeredBy('a'),
          otherwise: differently(UPSTREAM, {
            expect: answeredBy('b'),
            reason: 'external IPs are matched before node ports',
          }),
        }),
      },
    ],
  },
];
