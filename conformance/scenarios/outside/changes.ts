import type { HeldFlow, Scenario, SliceDeclaration } from '../../scenario.ts';
import {
  answeredBy,
  clusterIP,
  differently,
  IPTABLES,
  on,
  refused,
  silent,
  spreadOver,
  UDP_PORT,
} from '../../words.ts';
import {
  IN_A_ZONE_WITH_CLIENTS,
  LEAVES,
  OUTSIDE,
  OUTSIDE_ALONE,
  outsideWith,
  TWO,
} from './setup.ts';

const WEB = clusterIP('web');

const ENDPOINTS = 1_000;
/** As many as endpoints: a proxy that takes them in turn, as IPVS does, is even only after all of them. */
const CONNECTIONS = 1_000;
const HALVES: Record<string, SliceDeclaration> = Object.fromEntries(
  [1, ENDPOINTS / 2 + 1].map((from) => [
    `from-${from}`,
    {
      service: 'web',
      ports: [{ name: '', port: 8080 }],
      endpoints: [{ pod: 'crowd', numbers: { from, to: from + ENDPOINTS / 2 - 1 } }],
    },
  ]),
);

const LONG_LIVED: HeldFlow = {
  name: 'long-lived',
  from: 'machine',
  to: WEB,
  expect: answeredBy('a'),
};

/** What the machine follows in the API, and what its policies mean there. */
export const outsideChangeScenarios: readonly Scenario[] = [
  {
    name: 'outside/follows-readiness',
    title: 'Outside of the cluster an endpoint that is not ready gets no new connection',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: {} },
    steps: [
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] },
      { change: [{ setReady: 'a', ready: false }] },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('b') }] },
      { change: [{ setReady: 'b', ready: false }] },
      { ask: [{ from: 'machine', to: WEB, expect: refused, escapes: false }] },
      { change: [{ setReady: 'a', ready: true }] },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('a') }] },
    ],
  },
  {
    name: 'outside/follows-pods',
    title: 'Outside of the cluster a ClusterIP follows its pods as they come and go',
    setup: OUTSIDE,
    pods: { a: on(1) },
    services: { web: {} },
    steps: [
      { change: [{ addPod: 'b', pod: on(2) }] },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] },
      { change: [{ removePod: 'a' }] },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('b') }] },
    ],
  },
  {
    name: 'outside/service-deleted-and-created',
    title: 'Outside of the cluster a deleted Service is dead, and answers when it is created again',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: { fixedClusterIPs: true } },
    steps: [
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] },
      { change: [{ deleteService: 'web' }] },
      {
        ask: [
          {
            from: 'machine',
            to: WEB,
            expect: silent,
            escapes: false,
            otherwise: differently(IPTABLES, LEAVES),
          },
        ],
      },
      { change: [{ createService: 'web', service: { fixedClusterIPs: true } }] },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] },
    ],
  },
  {
    name: 'outside/terminating',
    title: 'Outside of the cluster a terminating endpoint is used only when no other is ready',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: {} },
    steps: [
      { change: [{ terminate: 'a' }] },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('b') }] },
      { change: [{ terminate: 'b' }] },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] },
    ],
  },
  {
    name: 'outside/large-service',
    title: 'Outside of the cluster a Service of 1,000 endpoints is spread evenly, and over half',
    setup: OUTSIDE_ALONE,
    pods: { crowd: on(2, { moreAddresses: ENDPOINTS }) },
    services: { web: { app: null } },
    slices: HALVES,
    steps: [
      {
        ask: [
          {
            from: 'machine',
            to: WEB,
            connections: CONNECTIONS,
            expect: spreadOver('crowd', ENDPOINTS),
          },
        ],
      },
      { change: [{ deleteSlice: `from-${ENDPOINTS / 2 + 1}` }] },
      {
        ask: [
          {
            from: 'machine',
            to: WEB,
            connections: CONNECTIONS,
            expect: spreadOver('crowd', ENDPOINTS / 2),
          },
        ],
      },
    ],
  },
  {
    name: 'outside/hints-without-zone',
    title: 'A machine whose zone is not configured uses the endpoints of every zone',
    setup: { ...OUTSIDE, since: '1.34' },
    pods: TWO,
    services: { web: { spec: { trafficDistribution: 'PreferSameZone' } } },
    steps: [{ ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] }],
  },
  {
    name: 'outside/hints-by-zone',
    title: 'With fairlead.zone the machine prefers endpoints of its zone, and uses others at need',
    setup: { ...IN_A_ZONE_WITH_CLIENTS, since: '1.34' },
    pods: TWO,
    services: { web: { spec: { trafficDistribution: 'PreferSameZone' } } },
    steps: [
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('b') }] },
      { change: [{ setReady: 'b', ready: false }] },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('a') }] },
    ],
  },
  {
    name: 'outside/internal-policy-local',
    title: 'With internalTrafficPolicy Local the machine, where no endpoint is local, is refused',
    setup: OUTSIDE,
    pods: TWO,
    services: {
      web: {
        ports: [{ name: 'http', port: 80, targetPort: 'tcp' }, UDP_PORT],
        spec: { internalTrafficPolicy: 'Local' },
      },
    },
    steps: [
      {
        ask: ['http', UDP_PORT.name ?? ''].map((port) => ({
          from: 'machine',
          to: clusterIP('web', port),
          expect: refused,
          escapes: false,
        })),
      },
      { change: [{ patchService: 'web', to: { spec: { internalTrafficPolicy: 'Cluster' } } }] },
      { ask: [{ from: 'machine', to: clusterIP('web', 'http'), expect: answeredBy('a', 'b') }] },
    ],
  },
  {
    name: 'outside/external-policy-local',
    title: 'externalTrafficPolicy Local means nothing to the ClusterIP outside of the cluster',
    setup: OUTSIDE,
    pods: TWO,
    services: { web: { spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' } } },
    steps: [{ ask: [{ from: 'machine', to: WEB, expect: answeredBy('a', 'b') }] }],
  },
  {
    name: 'outside/scope',
    title: 'With fairlead.scope only the Services that it names are served',
    // The namespace of this scenario, when it is run for the first time in a lab.
    setup: outsideWith({
      scope: {
        namespaces: ['barrier'],
        services: ['outside-scope-1/web', 'outside-scope-1/conformance-barrier'],
      },
    }),
    pods: TWO,
    services: { web: {}, other: { app: 'web' } },
    steps: [
      {
        ask: [
          { from: 'machine', to: WEB, expect: answeredBy('a', 'b') },
          // Nothing of it is read: its packets go where the default route leads.
          { from: 'machine', to: clusterIP('other'), expect: silent, escapes: true },
        ],
      },
      { change: [{ setReady: 'a', ready: false }] },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('b') }] },
    ],
  },
  {
    name: 'outside/long-lived-connection',
    title: 'A connection of the machine survives a restart of Fairlead and changes of endpoints',
    setup: OUTSIDE_ALONE,
    pods: { a: on(1) },
    services: { web: {} },
    steps: [
      { hold: LONG_LIVED },
      { change: [{ addPod: 'b', pod: on(2) }] },
      { held: LONG_LIVED.name, expect: answeredBy('a') },
      { change: [{ agent: 'stop' }, { setReady: 'a', ready: false }, { agent: 'start' }] },
      { held: LONG_LIVED.name, expect: answeredBy('a') },
      { ask: [{ from: 'machine', to: WEB, expect: answeredBy('b') }] },
      { change: [{ setReady: 'a', ready: true }] },
      { held: LONG_LIVED.name, expect: answeredBy('a') },
    ],
  },
];
