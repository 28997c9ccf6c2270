import type { Question, Scenario } from '../../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  clusterIP,
  fromEach,
  nodePort,
  refused,
  silent,
  UDP_PORT,
  unserved,
  vip,
} from '../../words.ts';
import {
  IN_A_ZONE_WITH_CLIENTS,
  OUTSIDE,
  OUTSIDE_ALONE,
  TWO,
  WITHOUT_FIXED_CLUSTER_IPS,
} from './setup.ts';

const WEB = clusterIP('web');
const EVERYBODY = ['machine', 'container', 'neighbour'];
const TCP_AND_UDP = [{ name: 'http', port: 80, targetPort: 'tcp' }, UDP_PORT];
const PORTS = ['http', UDP_PORT.name ?? ''];
const HEALTH_PORT = 10_256;
const METRICS_PORT = 10_249;

const SERVED = PORTS.map((port) => ({
  from: 'machine',
  to: clusterIP('web', port),
  expect: answeredBy('a', 'b'),
}));

/** What the machine passes on to the default route as it came. */
function passedOn(from: string): Question[] {
  return PORTS.map((port) => ({
    from,
    to: clusterIP('web', port),
    expect: silent,
    escapes: true,
  }));
}

/** What Fairlead on such a machine leaves alone, and to whom it gives nothing. */
export const outsideClosedScenarios: readonly Scenario[] = [
  {
    name: 'outside/neighbour-gets-nothing',
    title: 'A neighbour that routes the service range through the machine gets nothing',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: { ports: TCP_AND_UDP } },
    steps: [
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] },
      { ask: passedOn('neighbour') },
    ],
  },
  {
    name: 'outside/container-gets-nothing',
    title: 'A container on the machine gets nothing as long as its interface is not named',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: { ports: TCP_AND_UDP } },
    steps: [
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] },
      { ask: passedOn('container') },
    ],
  },
  {
    name: 'outside/named-interface',
    title: 'With an interface in fairlead.clients containers behind it are served, neighbours not',
    setup: IN_A_ZONE_WITH_CLIENTS,
    pods: TWO,
    services: { web: { ports: TCP_AND_UDP } },
    steps: [
      {
        ask: PORTS.flatMap((port) =>
          fromEach(['machine', 'container'], {
            to: clusterIP('web', port),
            expect: answeredBy('a', 'b'),
          }),
        ),
      },
      { ask: passedOn('neighbour') },
      { change: [{ setReady: 'a', ready: false }] },
      { ask: [{ from: 'container', to: WEB, expect: answeredBy('b') }] },
    ],
  },
  {
    name: 'outside/foreign-cluster-ip-captures-nothing',
    title: 'A ClusterIP outside of the configured Service ranges is not served',
    setup: WITHOUT_FIXED_CLUSTER_IPS,
    pods: TWO,
    services: {
      web: { ports: TCP_AND_UDP },
      foreign: { ports: TCP_AND_UDP, app: 'web', fixedClusterIPs: true },
    },
    steps: [
      { ask: SERVED },
      { ask: [{ from: 'machine', to: clusterIP('foreign'), expect: silent, escapes: true }] },
      {
        change: [
          {
            startServer: 'real',
            on: 'fabric',
            at: PORTS.map((port) => clusterIP('foreign', port)),
          },
        ],
      },
      {
        ask: PORTS.map((port) => ({
          from: 'machine',
          to: clusterIP('foreign', port),
          expect: answeredSeeing('own', 'real'),
        })),
      },
    ],
  },
  {
    name: 'outside/external-ip-captures-nothing',
    title: 'A server that has an address keeps its clients, whichever Service claims it',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: { ports: TCP_AND_UDP, externalIPs: ['claimed'] } },
    steps: [
      { ask: [{ from: 'machine', to: vip('claimed', 'web'), expect: silent, escapes: true }] },
      {
        change: [
          {
            startServer: 'real',
            on: 'fabric',
            at: PORTS.map((port) => vip('claimed', 'web', port)),
          },
        ],
      },
      {
        ask: PORTS.flatMap((port) =>
          fromEach(EVERYBODY, {
            to: vip('claimed', 'web', port),
            expect: answeredSeeing('own', 'real'),
          }),
        ),
      },
    ],
  },
  {
    name: 'outside/load-balancer-ip-captures-nothing',
    title: 'Packets of the machine for a load-balancer IP go to the load balancer',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: { spec: { type: 'LoadBalancer' }, loadBalancer: [{ name: 'cloud' }] } },
    steps: [
      { ask: [{ from: 'machine', to: vip('cloud', 'web'), expect: silent, escapes: true }] },
      { change: [{ startServer: 'balancer', on: 'fabric', at: [vip('cloud', 'web')] }] },
      {
        ask: fromEach(EVERYBODY, {
          to: vip('cloud', 'web'),
          expect: answeredSeeing('own', 'balancer'),
        }),
      },
    ],
  },
  {
    name: 'outside/node-port-not-open',
    title: 'A node port is closed to every client at every address of the machine',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: { ports: TCP_AND_UDP, spec: { type: 'NodePort' } } },
    steps: [
      {
        ask: PORTS.flatMap((port) => [
          ...fromEach(EVERYBODY, { to: nodePort('web', 'machine', port), expect: refused }),
          { from: 'machine', to: nodePort('web', 'localhost', port), expect: refused },
        ]),
      },
      { ask: [{ from: 'machine', to: nodePort('web', 1), expect: refused }] },
    ],
  },
  {
    name: 'outside/local-server-on-node-port',
    title: 'A server of the machine on the number of a node port keeps its clients',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: { ports: TCP_AND_UDP, spec: { type: 'NodePort' } } },
    steps: [
      {
        change: [
          {
            startServer: 'local',
            on: 'machine',
            at: PORTS.map((port) => nodePort('web', 'machine', port)),
          },
        ],
      },
      {
        ask: PORTS.flatMap((port) =>
          fromEach(EVERYBODY, {
            to: nodePort('web', 'machine', port),
            expect: answeredSeeing('own', 'local'),
          }),
        ),
      },
    ],
  },
  {
    name: 'outside/health-check-port-not-open',
    title: 'The health-check node port of a Service is not open on the machine',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: { spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' } } },
    steps: [
      {
        ask: fromEach(EVERYBODY, {
          to: { healthCheck: 'web', node: 'machine' },
          expect: refused,
        }),
      },
    ],
  },
  {
    name: 'outside/own-ports-not-open',
    title: 'Health and metrics of Fairlead are not shown to neighbours and containers',
    setup: OUTSIDE,
    steps: [
      {
        ask: [HEALTH_PORT, METRICS_PORT].flatMap((port) =>
          fromEach(['container', 'neighbour'], {
            to: { http: '/healthz', node: 'machine', port },
            expect: refused,
          }),
        ),
      },
    ],
  },
  {
    name: 'outside/no-port-open',
    title: 'A scan of all TCP ports finds the same with Fairlead as without it',
    setup: OUTSIDE_ALONE,
    pods: TWO,
    services: {
      web: {
        ports: TCP_AND_UDP,
        spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      },
    },
    steps: [
      { change: [{ agent: 'stop' }, { agent: 'clean up' }] },
      { scan: 'without Fairlead' },
      { change: [{ agent: 'start' }] },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] },
      { scan: 'with Fairlead', sameAs: 'without Fairlead' },
    ],
  },
  {
    name: 'outside/dead-without-fairlead',
    title:
      'A ClusterIP answers with Fairlead and while it is stopped, and is dead after cleanup until it starts',
    setup: OUTSIDE_ALONE,
    pods: TWO,
    services: { web: { ports: TCP_AND_UDP } },
    steps: [
      { ask: SERVED },
      { change: [{ agent: 'stop' }] },
      { ask: SERVED },
      { change: [{ agent: 'clean up' }] },
      { ask: passedOn('machine') },
      { change: [{ agent: 'start' }] },
      { ask: SERVED },
    ],
  },
  {
    name: 'outside/no-default-route',
    title: 'A machine without a default route reaches ClusterIPs with Fairlead, and not without it',
    setup: OUTSIDE_ALONE,
    pods: TWO,
    services: { web: { ports: TCP_AND_UDP } },
    steps: [
      {
        change: [{ agent: 'stop' }, { agent: 'clean up' }, { dropDefaultRoutes: 'no routes' }],
      },
      { ask: [{ from: 'machine', to: WEB, expect: unserved }] },
      { change: [{ agent: 'start' }] },
      { ask: SERVED },
      { change: [{ restoreDefaultRoutes: 'no routes' }] },
      { ask: SERVED },
    ],
  },
];
