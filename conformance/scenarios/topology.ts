import type { Scenario, ServiceDeclaration, SliceDeclaration, SliceEndpoint } from '../scenario.ts';
import { answeredBy, answeredSeeing, asker, clusterIP, fromEach, nodePort, on } from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };

/** PreferSameZone, PreferSameNode and hints for nodes: before they are behind an alpha gate. */
const SINCE_1_34 = { since: '1.34' } as const;

function preferring(trafficDistribution: string): Record<string, ServiceDeclaration> {
  return { web: { spec: { trafficDistribution, type: 'NodePort' } } };
}

/** Endpoints with hints of the scenario's own, where the controllers would write others. */
const BY_HAND: ServiceDeclaration = { app: null, ports: [{ port: 80, targetPort: 8080 }] };

function slice(...endpoints: SliceEndpoint[]): Record<string, SliceDeclaration> {
  return { web: { service: 'web', ports: [{ name: '', port: 8080 }], endpoints } };
}

/** node1 is in zone-a and node2 in zone-b. */
export const topologyScenarios: readonly Scenario[] = [
  {
    name: 'topology/same-zone',
    title: 'With PreferSameZone traffic stays in the zone of the node that it enters by',
    setup: SINCE_1_34,
    pods: EVERYWHERE,
    services: preferring('PreferSameZone'),
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredSeeing('own', 'a') },
          { from: 'pod:far', to: clusterIP('web'), expect: answeredSeeing('own', 'b') },
          { from: 'node1', to: clusterIP('web'), expect: answeredBy('a') },
          { from: 'client', to: nodePort('web', 2), expect: answeredSeeing('node', 'b') },
        ],
      },
    ],
  },
  {
    name: 'topology/same-zone-alias',
    title: 'PreferClose, the older name, means PreferSameZone',
    pods: EVERYWHERE,
    services: preferring('PreferClose'),
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') },
          { from: 'pod:far', to: clusterIP('web'), expect: answeredBy('b') },
        ],
      },
    ],
  },
  {
    name: 'topology/same-zone-empty',
    title: 'With PreferSameZone, a zone without ready endpoints uses those of other zones',
    setup: SINCE_1_34,
    pods: EVERYWHERE,
    services: preferring('PreferSameZone'),
    steps: [
      { ask: [{ from: 'pod:far', to: clusterIP('web'), expect: answeredBy('b') }] },
      { change: [{ setReady: 'b', ready: false }] },
      {
        ask: [
          { from: 'pod:far', to: clusterIP('web'), expect: answeredBy('a') },
          { from: 'client', to: nodePort('web', 2), expect: answeredBy('a') },
        ],
      },
      { change: [{ setReady: 'b', ready: true }] },
      { ask: [{ from: 'pod:far', to: clusterIP('web'), expect: answeredBy('b') }] },
    ],
  },
  {
    name: 'topology/same-node',
    title:
      'With PreferSameNode traffic stays on its node, and leaves it when no endpoint serves there',
    setup: SINCE_1_34,
    pods: { ...EVERYWHERE, c: on(2) },
    services: preferring('PreferSameNode'),
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') },
          { from: 'pod:far', to: clusterIP('web'), expect: answeredBy('b', 'c') },
          { from: 'client', to: nodePort('web', 1), expect: answeredBy('a') },
        ],
      },
      { change: [{ setReady: 'a', ready: false }] },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('b', 'c') },
          { from: 'client', to: nodePort('web', 1), expect: answeredBy('b', 'c') },
        ],
      },
    ],
  },
  {
    name: 'topology/switched-on-and-off',
    title: 'A preference takes effect when the Service gets it and ends when the Service loses it',
    setup: SINCE_1_34,
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') }] },
      {
        change: [{ patchService: 'web', to: { spec: { trafficDistribution: 'PreferSameZone' } } }],
      },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }] },
      { change: [{ patchService: 'web', to: { spec: { trafficDistribution: null } } }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') }] },
    ],
  },
  {
    name: 'topology/node-hints-before-zone-hints',
    title: 'Hints for the node decide before hints for its zone, which serve nodes without any',
    setup: SINCE_1_34,
    pods: { ...EVERYWHERE, c: on(2) },
    services: { web: BY_HAND },
    slices: slice(
      { pod: 'a', nodeHints: ['node1'], zoneHints: ['zone-a'] },
      { pod: 'b', nodeHints: ['node3'], zoneHints: ['zone-a', 'zone-b'] },
      { pod: 'c', nodeHints: ['node4'], zoneHints: ['zone-c'] },
    ),
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') },
          { from: 'pod:far', to: clusterIP('web'), expect: answeredBy('b') },
        ],
      },
    ],
  },
  {
    name: 'topology/one-endpoint-without-hint',
    title: 'Hints count only when every ready endpoint has one',
    setup: SINCE_1_34,
    pods: { ...EVERYWHERE, c: on(2) },
    services: { web: BY_HAND },
    slices: slice(
      { pod: 'a', zoneHints: ['zone-a'], nodeHints: ['node1'] },
      { pod: 'b', zoneHints: ['zone-b'], nodeHints: ['node2'] },
      { pod: 'c' },
    ),
    steps: [
      {
        ask: fromEach(['pod:near', 'pod:far'], {
          to: clusterIP('web'),
          expect: answeredBy('a', 'b', 'c'),
        }),
      },
      {
        change: [
          {
            writeSlice: 'web',
            slice: {
              service: 'web',
              ports: [{ name: '', port: 8080 }],
              endpoints: [
                { pod: 'a', zoneHints: ['zone-a'] },
                { pod: 'b', zoneHints: ['zone-b'] },
                { pod: 'c', conditions: { ready: false, serving: false } },
              ],
            },
          },
        ],
      },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') },
          { from: 'pod:far', to: clusterIP('web'), expect: answeredBy('b') },
        ],
      },
    ],
  },
  {
    name: 'topology/hints-for-others-only',
    title: 'When no endpoint is meant for a zone, that zone uses all of them',
    pods: EVERYWHERE,
    services: { web: BY_HAND },
    slices: slice({ pod: 'a', zoneHints: ['zone-b'] }, { pod: 'b', zoneHints: ['zone-c'] }),
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') },
          { from: 'pod:far', to: clusterIP('web'), expect: answeredBy('a') },
        ],
      },
    ],
  },
  {
    name: 'topology/local-policies-ignore-hints',
    title: 'Traffic that must stay on its node uses every endpoint there, whatever the hints',
    pods: { ...EVERYWHERE, c: on(1) },
    services: {
      web: { ...BY_HAND, spec: { type: 'NodePort', externalTrafficPolicy: 'Local' } },
      inner: { ...BY_HAND, spec: { internalTrafficPolicy: 'Local' } },
    },
    slices: Object.fromEntries(
      ['web', 'inner'].map((service) => [
        service,
        {
          service,
          ports: [{ name: '', port: 8080 }],
          endpoints: [
            { pod: 'a', zoneHints: ['zone-a'] },
            { pod: 'b', zoneHints: ['zone-a'] },
            { pod: 'c', zoneHints: ['zone-b'] },
          ],
        },
      ]),
    ),
    steps: [
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('own', 'a', 'c') },
          { from: 'client', to: nodePort('web', 2), expect: answeredSeeing('own', 'b') },
          { from: 'pod:near', to: clusterIP('inner'), expect: answeredBy('a', 'c') },
          // What need not stay on the node follows the hints.
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') },
          { from: 'pod:far', to: clusterIP('web'), expect: answeredBy('c') },
        ],
      },
    ],
  },
  {
    name: 'topology/last-terminating-endpoints',
    title: 'When only terminating endpoints are left, all of them serve, whatever the hints',
    pods: EVERYWHERE,
    services: { web: BY_HAND },
    slices: slice(
      {
        pod: 'a',
        zoneHints: ['zone-a'],
        conditions: { ready: false, serving: true, terminating: true },
      },
      {
        pod: 'b',
        zoneHints: ['zone-b'],
        conditions: { ready: false, serving: true, terminating: true },
      },
    ),
    steps: [
      {
        ask: fromEach(['pod:near', 'pod:far'], {
          to: clusterIP('web'),
          expect: answeredBy('a', 'b'),
        }),
      },
    ],
  },
];
