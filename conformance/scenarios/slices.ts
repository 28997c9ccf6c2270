import type { Scenario, ServiceDeclaration, SliceDeclaration, SliceEndpoint } from '../scenario.ts';
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
  UDP_PORT,
} from '../words.ts';

const PODS = { a: on(1), b: on(2), c: on(1), near: asker(1), far: asker(2) };
const PORT = { name: '', port: 8080 };
const BY_HAND: ServiceDeclaration = { app: null, ports: [{ port: 80, targetPort: 8080 }] };

function slice(...endpoints: SliceEndpoint[]): SliceDeclaration {
  return { service: 'web', ports: [PORT], endpoints };
}

const ANY_PLACE = ['pod:near', 'pod:far', 'node1', 'client@node2'];

export const sliceScenarios: readonly Scenario[] = [
  {
    name: 'slices/by-hand',
    title: 'A Service without selector serves a manually written slice',
    pods: PODS,
    services: { web: BY_HAND },
    slices: { web: slice({ pod: 'a' }, { pod: 'b' }) },
    steps: [{ ask: fromEach(ANY_PLACE, { to: clusterIP('web'), expect: answeredBy('a', 'b') }) }],
  },
  {
    name: 'slices/merged',
    title: 'All slices of a Service count together, as they come, change and go',
    pods: PODS,
    services: { web: BY_HAND },
    slices: { one: slice({ pod: 'a' }), two: slice({ pod: 'b' }) },
    steps: [
      { ask: fromEach(ANY_PLACE, { to: clusterIP('web'), expect: answeredBy('a', 'b') }) },
      {
        change: [{ writeSlice: 'three', slice: slice({ pod: 'c' }) }, { deleteSlice: 'one' }],
      },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('b', 'c') }] },
      // An endpoint that moves from one slice to another.
      {
        change: [
          { writeSlice: 'three', slice: slice({ pod: 'c' }, { pod: 'b' }) },
          { deleteSlice: 'two' },
        ],
      },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('b', 'c') }] },
      { change: [{ deleteSlice: 'three' }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: refused }] },
    ],
  },
  {
    name: 'slices/another-port-in-each',
    title: 'Slices may give one port of a Service another number each',
    pods: {
      a: on(1, { ports: [{ port: 8081, protocol: 'TCP' }] }),
      b: on(2, { ports: [{ port: 8082, protocol: 'TCP' }] }),
      near: asker(1),
    },
    services: { web: BY_HAND },
    slices: {
      one: { service: 'web', ports: [{ name: '', port: 8081 }], endpoints: [{ pod: 'a' }] },
      two: { service: 'web', ports: [{ name: '', port: 8082 }], endpoints: [{ pod: 'b' }] },
    },
    steps: [{ ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') }] }],
  },
  {
    name: 'slices/several-ports',
    title: 'Each port of a Service is served by the slices that name it, and by no others',
    pods: {
      ...PODS,
      d: on(2, { ports: [{ port: 9090, protocol: 'TCP' }] }),
    },
    services: {
      web: {
        app: null,
        ports: [
          { name: 'http', port: 80, targetPort: 8080 },
          { name: 'admin', port: 81, targetPort: 9090 },
          { name: 'dns', port: 53, targetPort: 8080, protocol: 'UDP' },
          { name: 'unused', port: 82, targetPort: 8080 },
        ],
      },
    },
    slices: {
      both: {
        service: 'web',
        ports: [
          { name: 'http', port: 8080 },
          { name: 'dns', port: 8080, protocol: 'UDP' },
        ],
        endpoints: [{ pod: 'a' }],
      },
      http: { service: 'web', ports: [{ name: 'http', port: 8080 }], endpoints: [{ pod: 'b' }] },
      admin: { service: 'web', ports: [{ name: 'admin', port: 9090 }], endpoints: [{ pod: 'd' }] },
      // The name is known, but not with this protocol.
      wrong: {
        service: 'web',
        ports: [{ name: 'http', port: 8080, protocol: 'UDP' }],
        endpoints: [{ pod: 'c' }],
      },
    },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web', 'http'), expect: answeredBy('a', 'b') },
          { from: 'pod:near', to: clusterIP('web', 'admin'), expect: answeredBy('d') },
          { from: 'pod:near', to: clusterIP('web', 'dns'), expect: answeredBy('a') },
          { from: 'pod:near', to: clusterIP('web', 'unused'), expect: refused },
        ],
      },
    ],
  },
  {
    name: 'slices/endpoint-twice',
    title: 'An endpoint that stands in two slices is one endpoint, until both have dropped it',
    pods: PODS,
    services: { web: BY_HAND },
    slices: {
      one: slice({ pod: 'a' }, { pod: 'b' }),
      two: slice({ pod: 'a' }),
    },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') }] },
      { change: [{ deleteSlice: 'two' }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') }] },
      { change: [{ writeSlice: 'one', slice: slice({ pod: 'b' }) }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('b') }] },
    ],
  },
  {
    name: 'slices/terminating-in-one-ready-in-another',
    title: 'An endpoint that is ready in one slice is ready, though another calls it terminating',
    pods: PODS,
    services: { web: BY_HAND },
    slices: {
      one: slice({ pod: 'a', conditions: { ready: false, serving: true, terminating: true } }),
      two: slice({ pod: 'a' }, { pod: 'b' }),
      three: slice({ pod: 'a', conditions: { ready: false, serving: true, terminating: true } }),
    },
    steps: [{ ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') }] }],
  },
  {
    name: 'slices/conditions-left-out',
    title: 'An endpoint is ready when its slice does not say',
    pods: PODS,
    services: { web: BY_HAND },
    slices: {
      web: slice(
        { pod: 'a', conditions: {} },
        { pod: 'b', conditions: { serving: true } },
        { pod: 'c', conditions: { ready: false } },
      ),
    },
    steps: [
      {
        ask: fromEach(['pod:near', 'pod:far'], {
          to: clusterIP('web'),
          expect: answeredBy('a', 'b'),
        }),
      },
    ],
  },
  {
    name: 'slices/node-left-out',
    title: 'An endpoint without a node serves the whole cluster and counts as local nowhere',
    pods: PODS,
    services: {
      web: { ...BY_HAND, spec: { type: 'NodePort', externalTrafficPolicy: 'Local' } },
    },
    slices: { web: slice({ pod: 'a', tellsNode: false }) },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'pod:far'], {
            to: clusterIP('web'),
            expect: answeredSeeing('own', 'a'),
          }),
          { from: 'client', to: nodePort('web', 1), expect: silent },
        ],
      },
    ],
  },
  {
    name: 'slices/empty',
    title: 'Slices without endpoints or without usable ports do no harm to others',
    pods: PODS,
    services: {
      web: { app: null, ports: [{ name: 'web', port: 80, targetPort: 8080 }, UDP_PORT] },
    },
    slices: {
      nobody: { service: 'web', ports: [{ name: 'web', port: 8080 }], endpoints: [] },
      'no-ports': { service: 'web', ports: [], endpoints: [{ pod: 'b' }] },
      'no-number': { service: 'web', ports: [{ name: 'web' }], endpoints: [{ pod: 'c' }] },
      good: {
        service: 'web',
        ports: [{ name: 'web', port: 8080 }],
        endpoints: [{ pod: 'a' }],
      },
    },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'pod:far'], {
            to: clusterIP('web', 'web'),
            expect: answeredBy('a'),
          }),
          { from: 'pod:near', to: clusterIP('web', 'dns'), expect: refused },
        ],
      },
    ],
  },
  {
    name: 'slices/of-another-service',
    title: 'A slice belongs to the Service that its label names, whatever its own name is',
    pods: PODS,
    services: { web: BY_HAND, other: BY_HAND },
    slices: {
      web: { service: 'other', ports: [PORT], endpoints: [{ pod: 'a' }] },
      other: { service: 'web', ports: [PORT], endpoints: [{ pod: 'b' }] },
    },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('b') },
          { from: 'pod:near', to: clusterIP('other'), expect: answeredBy('a') },
        ],
      },
    ],
  },
];
