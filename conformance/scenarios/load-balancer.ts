import type { Scenario } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  fromEach,
  nodePort,
  on,
  unserved,
  vip,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const LOAD_BALANCER = { loadBalancer: [{ name: 'lb' }], spec: { type: 'LoadBalancer' } };
const BY_BOTH = answeredSeeing('node', 'a', 'b');

export const loadBalancerScenarios: readonly Scenario[] = [
  {
    name: 'load-balancer/from-inside',
    title: 'Pods and nodes reach a load-balancer IP without leaving the cluster',
    pods: EVERYWHERE,
    services: { web: LOAD_BALANCER },
    steps: [
      {
        ask: fromEach(['pod:near', 'pod:far', 'node1', 'node2'], {
          to: vip('lb', 'web'),
          expect: BY_BOTH,
          escapes: false,
        }),
      },
    ],
  },
  {
    name: 'load-balancer/from-outside',
    title: 'A node serves what the load balancer sends it unchanged, whichever node it picks',
    pods: EVERYWHERE,
    services: { web: LOAD_BALANCER },
    steps: [
      {
        ask: fromEach(['client@node1', 'client@node2', 'machine@node1', 'machine@node2'], {
          to: vip('lb', 'web'),
          expect: BY_BOTH,
          escapes: false,
        }),
      },
    ],
  },
  {
    name: 'load-balancer/udp',
    title: 'A UDP port of a load-balancer IP is served for pods, nodes and clients outside',
    pods: EVERYWHERE,
    services: {
      web: {
        ...LOAD_BALANCER,
        ports: [{ name: 'u', port: 53, targetPort: 'udp', protocol: 'UDP' }],
      },
    },
    steps: [
      {
        ask: fromEach(['pod:near', 'pod:far', 'node1', 'client@node1', 'machine@node2'], {
          to: vip('lb', 'web'),
          expect: BY_BOTH,
        }),
      },
    ],
  },
  {
    name: 'load-balancer/keeps-node-port-and-cluster-ip',
    title: 'A LoadBalancer Service serves its NodePort and its ClusterIP as well',
    pods: EVERYWHERE,
    services: { web: LOAD_BALANCER },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredSeeing('own', 'a', 'b') },
          { from: 'client', to: nodePort('web', 1), expect: BY_BOTH },
          { from: 'pod:far', to: nodePort('web', 1), expect: BY_BOTH },
          { from: 'client@node1', to: vip('lb', 'web'), expect: BY_BOTH },
        ],
      },
    ],
  },
  {
    name: 'load-balancer/without-node-ports',
    title: 'A load-balancer IP is served also when the Service has no NodePorts',
    pods: EVERYWHERE,
    services: {
      web: {
        ...LOAD_BALANCER,
        spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false },
      },
    },
    steps: [
      {
        ask: fromEach(['pod:near', 'node2', 'client@node1', 'machine@node2'], {
          to: vip('lb', 'web'),
          expect: BY_BOTH,
        }),
      },
    ],
  },
  {
    name: 'load-balancer/several-addresses',
    title: 'Every load-balancer IP in the status is served on every port of the Service',
    pods: {
      shop: on(1, { ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }),
      admin: on(2, { ports: [{ name: 'admin', port: 9090, protocol: 'TCP' }] }),
      near: asker(1),
    },
    services: {
      web: {
        loadBalancer: [{ name: 'one' }, { name: 'two' }],
        spec: { type: 'LoadBalancer' },
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
    name: 'load-balancer/mode-vip',
    title: 'With ipMode VIP a load-balancer IP is served on the node',
    pods: EVERYWHERE,
    services: { web: { ...LOAD_BALANCER, loadBalancer: [{ name: 'lb', ipMode: 'VIP' }] } },
    steps: [
      {
        ask: fromEach(['pod:near', 'node2', 'client@node1'], {
          to: vip('lb', 'web'),
          expect: BY_BOTH,
          escapes: false,
        }),
      },
    ],
  },
  {
    name: 'load-balancer/mode-proxy',
    title: 'With ipMode Proxy packets go out to the load balancer itself',
    pods: EVERYWHERE,
    services: { web: { ...LOAD_BALANCER, loadBalancer: [{ name: 'lb', ipMode: 'Proxy' }] } },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'pod:far', 'node1', 'client@node1'], {
            to: vip('lb', 'web'),
            expect: unserved,
            escapes: true,
          }),
          { from: 'client', to: nodePort('web', 1), expect: BY_BOTH },
        ],
      },
    ],
  },
  {
    name: 'load-balancer/mode-changes',
    title: 'A load-balancer IP follows its ipMode from Proxy to VIP and back',
    pods: EVERYWHERE,
    services: { web: { ...LOAD_BALANCER, loadBalancer: [{ name: 'lb', ipMode: 'Proxy' }] } },
    steps: [
      { ask: [{ from: 'pod:near', to: vip('lb', 'web'), expect: unserved, escapes: true }] },
      {
        change: [{ patchService: 'web', to: { loadBalancer: [{ name: 'lb', ipMode: 'VIP' }] } }],
      },
      {
        ask: fromEach(['pod:near', 'node2', 'client@node1'], {
          to: vip('lb', 'web'),
          expect: BY_BOTH,
          escapes: false,
        }),
      },
      {
        change: [{ patchService: 'web', to: { loadBalancer: [{ name: 'lb', ipMode: 'Proxy' }] } }],
      },
      { ask: [{ from: 'pod:near', to: vip('lb', 'web'), expect: unserved, escapes: true }] },
    ],
  },
];
