import type { Scenario } from '../../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  clusterIP,
  differently,
  fromEach,
  IPTABLES,
  on,
  ping,
  refused,
  silent,
  stickyTo,
  UDP_PORT,
} from '../../words.ts';
import { LEAVES, OUTSIDE, TWO } from './setup.ts';

const WEB = clusterIP('web');

/** The ClusterIPs that the machine's own sockets reach. */
export const outsideClusterIpScenarios: readonly Scenario[] = [
  {
    name: 'outside/tcp',
    title: 'A machine without a Node object reaches every endpoint of a ClusterIP as itself',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: {} },
    steps: [{ ask: [{ from: 'machine', to: WEB, expect: answeredSeeing('own', 'a', 'b') }] }],
  },
  {
    name: 'outside/udp',
    title: 'Outside of the cluster a UDP port is balanced like a TCP port',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: { ports: [UDP_PORT] } },
    steps: [{ ask: [{ from: 'machine', to: WEB, expect: answeredSeeing('own', 'a', 'b') }] }],
  },
  {
    name: 'outside/source-addresses',
    title: 'A socket that is bound to any address of the machine reaches a ClusterIP',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: {} },
    steps: [
      {
        ask: fromEach(['machine@node1', 'machine@node2'], {
          to: WEB,
          expect: answeredSeeing('own', 'a', 'b'),
        }),
      },
    ],
  },
  {
    name: 'outside/several-ports',
    title: 'Outside of the cluster each port of a Service leads to its own target port',
    setup: OUTSIDE,
    pods: {
      shop: on(1, { ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }),
      admin: on(2, { ports: [{ name: 'admin', port: 9090, protocol: 'TCP' }] }),
      packet: on(2, { ports: [{ name: 'packet', port: 9091, protocol: 'UDP' }] }),
    },
    services: {
      web: {
        ports: [
          { name: 'http', port: 80, targetPort: 'http' },
          { name: 'admin', port: 81, targetPort: 'admin' },
          { name: 'packet', port: 81, targetPort: 'packet', protocol: 'UDP' },
        ],
      },
    },
    steps: [
      {
        ask: [
          { from: 'machine', to: clusterIP('web', 'http'), expect: answeredBy('shop') },
          { from: 'machine', to: clusterIP('web', 'admin'), expect: answeredBy('admin') },
          { from: 'machine', to: clusterIP('web', 'packet'), expect: answeredBy('packet') },
        ],
      },
    ],
  },
  {
    name: 'outside/named-target-port',
    title: 'Outside of the cluster a named target port may be another number in each pod',
    setup: OUTSIDE,
    pods: {
      a: on(1, { ports: [{ name: 'tcp', port: 8081, protocol: 'TCP' }] }),
      b: on(2, { ports: [{ name: 'tcp', port: 8082, protocol: 'TCP' }] }),
    },
    services: { web: {} },
    steps: [{ ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] }],
  },
  {
    name: 'outside/session-affinity',
    title: 'With ClientIP affinity every connection of the machine reaches the same endpoint',
    setup: OUTSIDE,
    pods: { ...TWO, c: on(1) },
    services: { web: { spec: { sessionAffinity: 'ClientIP' } } },
    steps: [{ ask: [{ from: 'machine', to: WEB, expect: stickyTo('a', 'b', 'c') }] }],
  },
  {
    name: 'outside/host-network-endpoints',
    title: 'Outside of the cluster endpoints that use the network of their node are reached',
    setup: OUTSIDE,
    pods: {
      a: on(1, {
        hostNetwork: true,
        ports: [{ name: 'tcp', port: 18_080, protocol: 'TCP' }],
      }),
      b: on(2, {
        hostNetwork: true,
        ports: [{ name: 'tcp', port: 18_080, protocol: 'TCP' }],
      }),
    },
    services: { web: {} },
    steps: [{ ask: [{ from: 'machine', to: WEB, expect: answeredSeeing('own', 'a', 'b') }] }],
  },
  {
    name: 'outside/single-endpoint',
    title: 'Outside of the cluster the only endpoint of a Service is reached',
    setup: OUTSIDE,
    pods: { a: on(2) },
    services: { web: {} },
    steps: [{ ask: [{ from: 'machine', to: WEB, expect: answeredSeeing('own', 'a') }] }],
  },
  {
    name: 'outside/no-endpoints',
    title: 'Outside of the cluster a Service without endpoints is refused at once, TCP and UDP',
    setup: OUTSIDE,
    services: { web: { ports: [{ name: 'http', port: 80 }, UDP_PORT] } },
    steps: [
      {
        ask: ['http', UDP_PORT.name ?? ''].map((port) => ({
          from: 'machine',
          to: clusterIP('web', port),
          expect: refused,
          escapes: false,
        })),
      },
    ],
  },
  {
    name: 'outside/undefined-port',
    title: 'A port that the Service does not have is refused and never leaves the machine',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: {} },
    steps: [
      {
        ask: [
          {
            from: 'machine',
            to: { clusterIP: 'web', port: 81, protocol: 'TCP' },
            expect: refused,
            escapes: false,
            otherwise: differently(IPTABLES, {
              expect: silent,
              escapes: true,
              reason: 'no rule matches, so packets leave the machine by the default route',
            }),
          },
        ],
      },
    ],
  },
  {
    name: 'outside/unassigned-address',
    title: 'An address of the service range that no Service has never leaves the machine',
    setup: OUTSIDE,
    pods: TWO,
    steps: [
      {
        ask: [
          {
            from: 'machine',
            to: { unassigned: true, port: 80, protocol: 'TCP' },
            expect: silent,
            escapes: false,
            otherwise: differently(IPTABLES, LEAVES),
          },
        ],
      },
    ],
  },
  {
    name: 'outside/ping',
    title: 'An echo request of the machine to a ClusterIP is refused and never leaves it',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: {} },
    steps: [
      {
        ask: [
          {
            from: 'machine',
            to: ping(WEB),
            expect: refused,
            escapes: false,
            otherwise: differently(IPTABLES, LEAVES),
          },
        ],
      },
    ],
  },
];
