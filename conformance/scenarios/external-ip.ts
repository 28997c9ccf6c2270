import type { Scenario } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  fromEach,
  on,
  silent,
  vip,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const BY_BOTH = answeredSeeing('node', 'a', 'b');

export const externalIpScenarios: readonly Scenario[] = [
  {
    name: 'external-ip/from-pods',
    title: 'Pods on every node reach an external IP that no node has, masqueraded',
    pods: EVERYWHERE,
    services: { web: { externalIPs: ['shop'] } },
    steps: [
      {
        ask: fromEach(['pod:near', 'pod:far'], {
          to: vip('shop', 'web'),
          expect: BY_BOTH,
          escapes: false,
        }),
      },
    ],
  },
  {
    name: 'external-ip/from-nodes',
    title: 'A node reaches an external IP that no node has',
    pods: EVERYWHERE,
    services: { web: { externalIPs: ['shop'] } },
    steps: [
      {
        ask: fromEach(['node1', 'node2'], {
          to: vip('shop', 'web'),
          expect: BY_BOTH,
          escapes: false,
        }),
      },
    ],
  },
  {
    name: 'external-ip/from-outside',
    title: 'Traffic for an external IP that is routed to any node is served there, masqueraded',
    pods: EVERYWHERE,
    services: { web: { externalIPs: ['shop'] } },
    steps: [
      {
        ask: fromEach(['client@node1', 'client@node2', 'machine@node1', 'machine@node2'], {
          to: vip('shop', 'web'),
          expect: BY_BOTH,
          escapes: false,
        }),
      },
    ],
  },
  {
    name: 'external-ip/udp',
    title: 'A UDP port of an external IP is served for pods, nodes and clients outside',
    pods: EVERYWHERE,
    services: {
      web: {
        externalIPs: ['dns'],
        ports: [{ name: 'u', port: 53, targetPort: 'udp', protocol: 'UDP' }],
      },
    },
    steps: [
      {
        ask: fromEach(['pod:near', 'pod:far', 'node1', 'client@node1', 'machine@node2'], {
          to: vip('dns', 'web'),
          expect: BY_BOTH,
        }),
      },
    ],
  },
  {
    name: 'external-ip/several-addresses',
    title: 'Every external IP of a Service serves every one of its ports',
    pods: {
      shop: on(1, { ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }),
      admin: on(2, { ports: [{ name: 'admin', port: 9090, protocol: 'TCP' }] }),
      near: asker(1),
    },
    services: {
      web: {
        externalIPs: ['one', 'two'],
        ports: [
          { name: 'http', port: 80, targetPort: 'http' },
          { name: 'admin', port: 81, targetPort: 'admin' },
        ],
      },
    },
    steps: [
      {
        ask: ['one', 'two'].flatMap((address) => [
          ...fromEach(['pod:near', 'client@node2'], {
            to: vip(address, 'web', 'http'),
            expect: answeredBy('shop'),
          }),
          ...fromEach(['pod:near', 'client@node2'], {
            to: vip(address, 'web', 'admin'),
            expect: answeredBy('admin'),
          }),
        ]),
      },
    ],
  },
  {
    name: 'external-ip/shared-by-ports',
    title: 'Two Services share an external IP when their ports differ',
    pods: { a: on(1, { app: 'first' }), b: on(2, { app: 'second' }), near: asker(1) },
    services: {
      first: { externalIPs: ['shared'] },
      second: { externalIPs: ['shared'], ports: [{ port: 81, targetPort: 'tcp' }] },
    },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'client@node2'], {
            to: vip('shared', 'first'),
            expect: answeredBy('a'),
          }),
          ...fromEach(['pod:near', 'client@node2'], {
            to: vip('shared', 'second'),
            expect: answeredBy('b'),
          }),
        ],
      },
    ],
  },
  {
    name: 'external-ip/given-and-taken-away',
    title: 'An external IP is served from when the Service gets it until the Service loses it',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { ask: [{ from: 'pod:near', to: vip('shop', 'web'), expect: silent, escapes: true }] },
      { change: [{ patchService: 'web', to: { externalIPs: ['shop'] } }] },
      {
        ask: fromEach(['pod:near', 'client@node2'], { to: vip('shop', 'web'), expect: BY_BOTH }),
      },
      { change: [{ patchService: 'web', to: { externalIPs: [] } }] },
      {
        ask: [
          // It is an address like any other again: packets for it go where routes lead.
          { from: 'pod:near', to: vip('shop', 'web'), expect: silent, escapes: true },
          { from: 'pod:near', to: clusterIP('web'), expect: answeredSeeing('own', 'a', 'b') },
        ],
      },
    ],
  },
];
