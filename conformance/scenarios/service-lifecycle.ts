import type { KnownDifference, Scenario } from '../scenario.ts';
import {
  answeredBy,
  asker,
  clusterIP,
  differently,
  IPTABLES,
  nodePort,
  on,
  refused,
  silent,
  vip,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const BOTH = answeredBy('a', 'b');

const LEAKS: KnownDifference = {
  expect: silent,
  escapes: true,
  reason:
    'the proxy does not know the service range, so packets leave the node by the default route',
};

export const serviceLifecycleScenarios: readonly Scenario[] = [
  {
    name: 'service-lifecycle/deleted',
    title: 'A deleted Service is served at none of the addresses it had',
    pods: EVERYWHERE,
    services: {
      web: {
        externalIPs: ['external'],
        spec: { type: 'NodePort' },
      },
      other: { app: 'web' },
    },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: BOTH },
          { from: 'client', to: nodePort('web', 1), expect: BOTH },
          { from: 'client@node1', to: vip('external', 'web'), expect: BOTH },
        ],
      },
      { change: [{ deleteService: 'web' }] },
      {
        ask: [
          {
            from: 'pod:near',
            to: clusterIP('web'),
            expect: silent,
            escapes: false,
            otherwise: differently(IPTABLES, LEAKS),
          },
          { from: 'client', to: nodePort('web', 1), expect: refused },
          { from: 'client@node1', to: vip('external', 'web'), expect: silent, escapes: true },
          { from: 'pod:near', to: clusterIP('other'), expect: BOTH },
        ],
      },
    ],
  },
  {
    name: 'service-lifecycle/recreated',
    title: 'A Service that is made anew with the same addresses serves its new endpoints only',
    pods: { ...EVERYWHERE, c: on(2, { app: 'next' }) },
    services: {
      web: {
        fixedClusterIPs: true,
        externalIPs: ['external'],
        spec: { type: 'NodePort' },
        ports: [{ port: 80, targetPort: 'tcp', nodePort: 'fixed' }],
      },
    },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: BOTH }] },
      {
        change: [
          { deleteService: 'web' },
          {
            createService: 'web',
            service: {
              app: 'next',
              fixedClusterIPs: true,
              externalIPs: ['external'],
              spec: { type: 'NodePort' },
              ports: [{ port: 80, targetPort: 'tcp', nodePort: 'fixed' }],
            },
          },
        ],
      },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('c') },
          { from: 'client', to: nodePort('web', 1), expect: answeredBy('c') },
          { from: 'client@node2', to: vip('external', 'web'), expect: answeredBy('c') },
        ],
      },
    ],
  },
  {
    name: 'service-lifecycle/external-name-and-back',
    title:
      'A Service is served while it is a ClusterIP Service and not while it is an ExternalName',
    pods: EVERYWHERE,
    services: {
      web: {
        fixedClusterIPs: true,
        externalIPs: ['external'],
      },
    },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: BOTH }] },
      {
        change: [
          {
            patchService: 'web',
            to: { spec: { type: 'ExternalName', externalName: 'elsewhere.example' } },
          },
        ],
      },
      {
        ask: [
          {
            from: 'pod:near',
            to: { clusterIP: 'web', port: 80, protocol: 'TCP' },
            expect: silent,
            escapes: false,
            otherwise: differently(IPTABLES, LEAKS),
          },
          { from: 'client@node1', to: vip('external', 'web'), expect: silent, escapes: true },
        ],
      },
      {
        change: [
          {
            patchService: 'web',
            to: { spec: { type: 'ClusterIP', ipFamilyPolicy: 'RequireDualStack' } },
          },
        ],
      },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: BOTH },
          { from: 'client@node1', to: vip('external', 'web'), expect: BOTH },
        ],
      },
    ],
  },
];
