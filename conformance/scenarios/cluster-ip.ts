import type { Scenario } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  behindDocker,
  clusterIP,
  fromEach,
  fromForwarderOnItsNode,
  on,
  reachesOnly,
  refused,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const PODS = ['pod:near', 'pod:far'];
const NODES = ['node1', 'node2'];
const OUTSIDE = ['client@node1', 'client@node2', 'machine@node1'];

export const clusterIpScenarios: readonly Scenario[] = [
  {
    name: 'cluster-ip/tcp-from-pods',
    title: 'Pods on every node reach every endpoint of a ClusterIP and keep their address',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { ask: fromEach(PODS, { to: clusterIP('web'), expect: answeredSeeing('own', 'a', 'b') }) },
    ],
  },
  {
    name: 'cluster-ip/tcp-from-nodes',
    title: 'A node reaches every endpoint of a ClusterIP, masqueraded as itself',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { ask: fromEach(NODES, { to: clusterIP('web'), expect: answeredSeeing('node', 'a', 'b') }) },
    ],
  },
  {
    name: 'cluster-ip/tcp-from-outside',
    title: 'Traffic from outside that is routed to a node reaches a ClusterIP, masqueraded',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      {
        ask: fromEach(OUTSIDE, { to: clusterIP('web'), expect: answeredSeeing('node', 'a', 'b') }),
      },
    ],
  },
  {
    name: 'cluster-ip/udp',
    title: 'A UDP port is balanced like a TCP port, from pods, nodes and outside',
    pods: EVERYWHERE,
    services: { web: { ports: [{ name: 'u', port: 53, targetPort: 'udp', protocol: 'UDP' }] } },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredSeeing('own', 'a', 'b') },
          { from: 'node2', to: clusterIP('web'), expect: answeredSeeing('node', 'a', 'b') },
          { from: 'client@node1', to: clusterIP('web'), expect: answeredSeeing('node', 'a', 'b') },
        ],
      },
    ],
  },
  {
    name: 'cluster-ip/single-endpoint',
    title: 'The only endpoint of a Service is reached from its own node, another node and outside',
    pods: { only: on(1), near: asker(1), far: asker(2) },
    services: { web: {} },
    steps: [
      {
        ask: [
          ...fromEach(PODS, { to: clusterIP('web'), expect: answeredSeeing('own', 'only') }),
          ...fromEach([...NODES, ...OUTSIDE], {
            to: clusterIP('web'),
            expect: answeredSeeing('node', 'only'),
          }),
        ],
      },
    ],
  },
  {
    name: 'cluster-ip/host-network-endpoints',
    title: 'Endpoints that use the network of their node are reached from everywhere',
    pods: {
      h1: on(1, { hostNetwork: true, ports: [{ name: 'tcp', port: 18080, protocol: 'TCP' }] }),
      h2: on(2, { hostNetwork: true, ports: [{ name: 'tcp', port: 18080, protocol: 'TCP' }] }),
      near: asker(1),
      far: asker(2),
    },
    services: { web: {} },
    steps: [
      {
        ask: [
          ...fromEach(PODS, {
            to: clusterIP('web'),
            expect: answeredSeeing('own', 'h1', 'h2'),
            otherwise: fromForwarderOnItsNode(answeredBy('h1', 'h2')),
          }),
          ...fromEach(NODES, { to: clusterIP('web'), expect: answeredSeeing('node', 'h1', 'h2') }),
          // What stays on the node is not masqueraded, what leaves it is: no single source.
          ...fromEach(['client@node1', 'machine@node1'], {
            to: clusterIP('web'),
            expect: answeredBy('h1', 'h2'),
            otherwise: behindDocker(reachesOnly('h1')),
          }),
          {
            from: 'client@node2',
            to: clusterIP('web'),
            expect: answeredBy('h1', 'h2'),
            otherwise: behindDocker(reachesOnly('h2')),
          },
        ],
      },
    ],
  },
  {
    name: 'cluster-ip/follows-readiness',
    title: 'An endpoint that stops being ready gets no new connection, and comes back when ready',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a', 'b') }] },
      { change: [{ setReady: 'a', ready: false }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('b') }] },
      { change: [{ setReady: 'b', ready: false }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: refused }] },
      { change: [{ setReady: 'a', ready: true }] },
      { ask: [{ from: 'node2', to: clusterIP('web'), expect: answeredBy('a') }] },
    ],
  },
  {
    name: 'cluster-ip/follows-pods',
    title: 'A ClusterIP follows its pods as they come and go',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: { web: {} },
    steps: [
      { ask: fromEach(PODS, { to: clusterIP('web'), expect: answeredBy('a') }) },
      { change: [{ addPod: 'b', pod: on(2) }] },
      { ask: fromEach(PODS, { to: clusterIP('web'), expect: answeredBy('a', 'b') }) },
      { change: [{ removePod: 'a' }, { addPod: 'c', pod: on(1) }] },
      { ask: fromEach(PODS, { to: clusterIP('web'), expect: answeredBy('b', 'c') }) },
    ],
  },
  {
    name: 'cluster-ip/two-services-one-selector',
    title: 'Two Services with the same selector work side by side, and one outlives the other',
    pods: EVERYWHERE,
    services: {
      first: { app: 'web' },
      second: { app: 'web', ports: [{ port: 81, targetPort: 8080 }] },
    },
    steps: [
      {
        ask: [
          ...fromEach(PODS, { to: clusterIP('first'), expect: answeredSeeing('own', 'a', 'b') }),
          ...fromEach(PODS, { to: clusterIP('second'), expect: answeredSeeing('own', 'a', 'b') }),
        ],
      },
      { change: [{ deleteService: 'first' }] },
      { ask: fromEach(PODS, { to: clusterIP('second'), expect: answeredSeeing('own', 'a', 'b') }) },
    ],
  },
];
