import type { Scenario } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  behindDocker,
  clusterIP,
  fromEach,
  nodePort,
  on,
  reachesOnly,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const NODE_PORT = { spec: { type: 'NodePort' } };
const EVERYBODY = ['pod:near', 'pod:far', 'node1', 'node2', 'client', 'machine'];
const BY_BOTH = answeredSeeing('node', 'a', 'b');

export const nodePortScenarios: readonly Scenario[] = [
  {
    name: 'node-port/from-outside',
    title: 'Every node answers a NodePort for clients outside, masqueraded as that node',
    pods: EVERYWHERE,
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          ...fromEach(['client', 'machine'], { to: nodePort('web', 1), expect: BY_BOTH }),
          ...fromEach(['client', 'machine'], { to: nodePort('web', 2), expect: BY_BOTH }),
        ],
      },
    ],
  },
  {
    name: 'node-port/from-pods',
    title: 'A pod reaches a NodePort on its own node and on another',
    pods: EVERYWHERE,
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'pod:far'], { to: nodePort('web', 1), expect: BY_BOTH }),
          ...fromEach(['pod:near', 'pod:far'], { to: nodePort('web', 2), expect: BY_BOTH }),
        ],
      },
    ],
  },
  {
    name: 'node-port/from-nodes',
    title: 'A node reaches a NodePort on itself and on another node',
    pods: EVERYWHERE,
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          ...fromEach(['node1', 'node2'], { to: nodePort('web', 1), expect: BY_BOTH }),
          ...fromEach(['node1', 'node2'], { to: nodePort('web', 2), expect: BY_BOTH }),
        ],
      },
    ],
  },
  {
    name: 'node-port/endpoint-elsewhere',
    title: 'A node without an endpoint passes its NodePort on to the node that has one',
    pods: { only: on(1), near: asker(1), far: asker(2) },
    services: { web: NODE_PORT },
    steps: [
      {
        ask: fromEach(EVERYBODY, {
          to: nodePort('web', 2),
          expect: answeredSeeing('node', 'only'),
        }),
      },
    ],
  },
  {
    name: 'node-port/udp',
    title: 'A UDP NodePort is served like a TCP one, for pods, nodes and clients outside',
    pods: EVERYWHERE,
    services: {
      web: { ...NODE_PORT, ports: [{ name: 'u', port: 53, targetPort: 'udp', protocol: 'UDP' }] },
    },
    steps: [
      {
        ask: [
          ...fromEach(EVERYBODY, { to: nodePort('web', 1), expect: BY_BOTH }),
          ...fromEach(['pod:near', 'node1', 'client'], { to: nodePort('web', 2), expect: BY_BOTH }),
        ],
      },
    ],
  },
  {
    name: 'node-port/tcp-and-udp-on-one-port',
    title: 'TCP and UDP share the number of a NodePort, each with endpoints of its own',
    pods: {
      stream: on(1, { ports: [{ name: 'stream', port: 8080, protocol: 'TCP' }] }),
      packet: on(2, { ports: [{ name: 'packet', port: 8080, protocol: 'UDP' }] }),
      near: asker(1),
      far: asker(2),
    },
    services: {
      web: {
        ...NODE_PORT,
        // The API server gives both the same NodePort because they have the same port.
        ports: [
          { name: 'stream', port: 53, targetPort: 'stream', protocol: 'TCP' },
          { name: 'packet', port: 53, targetPort: 'packet', protocol: 'UDP' },
        ],
      },
    },
    steps: [
      {
        ask: [
          ...fromEach(EVERYBODY, {
            to: nodePort('web', 1, 'stream'),
            expect: answeredBy('stream'),
          }),
          ...fromEach(EVERYBODY, {
            to: nodePort('web', 1, 'packet'),
            expect: answeredBy('packet'),
          }),
        ],
      },
    ],
  },
  {
    name: 'node-port/several-ports',
    title: 'Each port of a Service has a NodePort of its own',
    pods: {
      shop: on(1, { ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }),
      admin: on(2, { ports: [{ name: 'admin', port: 9090, protocol: 'TCP' }] }),
      near: asker(1),
    },
    services: {
      web: {
        ...NODE_PORT,
        ports: [
          { name: 'http', port: 80, targetPort: 'http' },
          { name: 'admin', port: 81, targetPort: 'admin' },
        ],
      },
    },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'node2', 'client'], {
            to: nodePort('web', 1, 'http'),
            expect: answeredBy('shop'),
          }),
          ...fromEach(['pod:near', 'node2', 'client'], {
            to: nodePort('web', 1, 'admin'),
            expect: answeredBy('admin'),
          }),
        ],
      },
    ],
  },
  {
    name: 'node-port/keeps-cluster-ip',
    title: 'A NodePort Service serves its ClusterIP as well, where pods keep their address',
    pods: EVERYWHERE,
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredSeeing('own', 'a', 'b') },
          { from: 'pod:near', to: nodePort('web', 1), expect: BY_BOTH },
          { from: 'node2', to: clusterIP('web'), expect: BY_BOTH },
          { from: 'node2', to: nodePort('web', 2), expect: BY_BOTH },
        ],
      },
    ],
  },
  {
    name: 'node-port/host-network-endpoints',
    title: 'A NodePort reaches endpoints that use the network of their node',
    pods: {
      h1: on(1, { hostNetwork: true, ports: [{ name: 'tcp', port: 18081, protocol: 'TCP' }] }),
      h2: on(2, { hostNetwork: true, ports: [{ name: 'tcp', port: 18081, protocol: 'TCP' }] }),
      near: asker(1),
      far: asker(2),
    },
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'pod:far', 'node1'], {
            to: nodePort('web', 1),
            expect: answeredBy('h1', 'h2'),
          }),
          ...fromEach(['node2', 'client', 'machine'], {
            to: nodePort('web', 1),
            expect: answeredBy('h1', 'h2'),
            otherwise: behindDocker(reachesOnly('h1')),
          }),
        ],
      },
    ],
  },
];
