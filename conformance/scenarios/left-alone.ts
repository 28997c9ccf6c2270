import type { Scenario, SliceDeclaration } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  fromEach,
  nodePort,
  on,
  podIP,
  refused,
  silent,
  unserved,
  vip,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const PROXY_NAME = 'service.kubernetes.io/service-proxy-name';
const HEADLESS = 'service.kubernetes.io/headless';

const SLICE: SliceDeclaration = {
  service: 'web',
  ports: [{ name: '', port: 8080 }],
  endpoints: [{ pod: 'a' }, { pod: 'b' }],
};

/** What is not the proxy's to serve passes it by: packets go where routes lead. */
export const leftAloneScenarios: readonly Scenario[] = [
  {
    name: 'left-alone/headless',
    title: 'A headless Service is for DNS: its pods are reached directly, its addresses not served',
    pods: EVERYWHERE,
    services: { web: { externalIPs: ['external'], spec: { clusterIP: 'None' } } },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'client@node2'], {
            to: vip('external', 'web'),
            expect: silent,
            escapes: true,
          }),
          { from: 'pod:near', to: podIP('b'), expect: answeredSeeing('own', 'b') },
          { from: 'pod:near', to: podIP('b', 80), expect: refused },
        ],
      },
    ],
  },
  {
    name: 'left-alone/external-name',
    title: 'A Service of type ExternalName is for DNS: its addresses are not served',
    pods: EVERYWHERE,
    services: {
      web: {
        externalIPs: ['external'],
        spec: { type: 'ExternalName', externalName: 'elsewhere.example' },
      },
    },
    steps: [
      {
        ask: fromEach(['pod:near', 'node1', 'client@node2'], {
          to: vip('external', 'web'),
          expect: silent,
          escapes: true,
        }),
      },
    ],
  },
  {
    name: 'left-alone/of-another-proxy',
    title: 'A Service that names another proxy in its label is not served at any of its addresses',
    pods: EVERYWHERE,
    services: {
      web: {
        labels: { [PROXY_NAME]: 'another' },
        externalIPs: ['external'],
        loadBalancer: [{ name: 'lb' }],
        spec: { type: 'LoadBalancer' },
      },
    },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'node2', 'client@node1'], {
            to: clusterIP('web'),
            expect: unserved,
          }),
          ...fromEach(['pod:near', 'client@node1'], {
            to: vip('external', 'web'),
            expect: silent,
            escapes: true,
          }),
          { from: 'client@node1', to: vip('lb', 'web'), expect: silent, escapes: true },
          // No process of the node listens on that port.
          { from: 'client', to: nodePort('web', 1), expect: refused },
        ],
      },
    ],
  },
  {
    name: 'left-alone/label-comes-and-goes',
    title:
      'A Service is no longer served when it names another proxy, and served again when it does not',
    pods: EVERYWHERE,
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') }] },
      { change: [{ patchService: 'web', to: { labels: { [PROXY_NAME]: 'another' } } }] },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: unserved },
          { from: 'client', to: nodePort('web', 1), expect: refused },
        ],
      },
      { change: [{ patchService: 'web', to: { labels: { [PROXY_NAME]: null } } }] },
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') },
          { from: 'client', to: nodePort('web', 1), expect: answeredBy('a', 'b') },
        ],
      },
    ],
  },
  {
    name: 'left-alone/slices-of-headless-services',
    title: 'Slices labelled as those of a headless Service are not for the proxy',
    pods: EVERYWHERE,
    services: { web: { app: null, ports: [{ port: 80, targetPort: 8080 }] } },
    slices: { web: { ...SLICE, labels: { [HEADLESS]: '' } } },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: refused }] },
      { change: [{ writeSlice: 'web', slice: SLICE }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') }] },
      { change: [{ writeSlice: 'web', slice: { ...SLICE, labels: { [HEADLESS]: '' } } }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: refused }] },
    ],
  },
];
