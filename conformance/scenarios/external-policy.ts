import type { Scenario, ServiceDeclaration } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  fromEach,
  fromForwarderOnItsNode,
  nodePort,
  on,
  refused,
  silent,
} from '../words.ts';

const NODE_PORT: ServiceDeclaration = {
  spec: { type: 'NodePort', externalTrafficPolicy: 'Local' },
};
const BOTH_NODES = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const FIRST_NODE = { a: on(1), a2: on(1), near: asker(1), far: asker(2) };

export const externalPolicyScenarios: readonly Scenario[] = [
  {
    name: 'external-policy/node-port-from-outside',
    title:
      'With externalTrafficPolicy Local a NodePort leads to endpoints of its node, which see the client',
    pods: BOTH_NODES,
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          ...fromEach(['client', 'machine', 'node2'], {
            to: nodePort('web', 1),
            expect: answeredSeeing('own', 'a'),
          }),
          ...fromEach(['client', 'machine', 'node1'], {
            to: nodePort('web', 2),
            expect: answeredSeeing('own', 'b'),
          }),
        ],
      },
    ],
  },
  {
    name: 'external-policy/node-port-no-local-endpoint',
    title: 'With externalTrafficPolicy Local the NodePort of a node without an endpoint is silent',
    pods: FIRST_NODE,
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('own', 'a', 'a2') },
          ...fromEach(['client', 'machine', 'node1'], { to: nodePort('web', 2), expect: silent }),
        ],
      },
    ],
  },
  {
    name: 'external-policy/node-port-from-inside',
    title:
      'With externalTrafficPolicy Local pods and nodes reach every endpoint through the NodePort of their own node',
    pods: BOTH_NODES,
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: nodePort('web', 1), expect: answeredSeeing('own', 'a', 'b') },
          { from: 'pod:far', to: nodePort('web', 2), expect: answeredSeeing('own', 'a', 'b') },
          { from: 'node1', to: nodePort('web', 1), expect: answeredSeeing('node', 'a', 'b') },
          { from: 'node2', to: nodePort('web', 2), expect: answeredSeeing('node', 'a', 'b') },
        ],
      },
    ],
  },
  {
    name: 'external-policy/node-port-from-inside-no-local-endpoint',
    title:
      'With externalTrafficPolicy Local the NodePort of a node without an endpoint works for its own pods and itself',
    pods: FIRST_NODE,
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          { from: 'pod:far', to: nodePort('web', 2), expect: answeredSeeing('own', 'a', 'a2') },
          { from: 'node2', to: nodePort('web', 2), expect: answeredSeeing('node', 'a', 'a2') },
          { from: 'pod:far', to: nodePort('web', 1), expect: answeredSeeing('own', 'a', 'a2') },
        ],
      },
    ],
  },
  {
    name: 'external-policy/node-port-no-endpoints',
    title: 'With externalTrafficPolicy Local and no endpoint anywhere a NodePort is refused',
    pods: { near: asker(1), far: asker(2) },
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          ...fromEach(['client', 'machine', 'pod:near', 'pod:far', 'node1'], {
            to: nodePort('web', 1),
            expect: refused,
          }),
          { from: 'client', to: nodePort('web', 2), expect: refused },
        ],
      },
    ],
  },
  {
    name: 'external-policy/node-port-udp',
    title: 'externalTrafficPolicy Local holds for UDP as for TCP',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: {
      web: { ...NODE_PORT, ports: [{ name: 'u', port: 53, targetPort: 'udp', protocol: 'UDP' }] },
    },
    steps: [
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('own', 'a') },
          { from: 'client', to: nodePort('web', 2), expect: silent },
          { from: 'pod:far', to: nodePort('web', 2), expect: answeredSeeing('own', 'a') },
          { from: 'node2', to: nodePort('web', 2), expect: answeredSeeing('node', 'a') },
        ],
      },
    ],
  },
  {
    name: 'external-policy/host-network-endpoint',
    title:
      'With externalTrafficPolicy Local an endpoint on the network of its node sees the client, too',
    pods: {
      edge: on(1, { hostNetwork: true, ports: [{ name: 'tcp', port: 18083, protocol: 'TCP' }] }),
      near: asker(1),
      far: asker(2),
    },
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          ...fromEach(['client', 'machine', 'node2', 'pod:near', 'pod:far'], {
            to: nodePort('web', 1),
            expect: answeredSeeing('own', 'edge'),
            otherwise: fromForwarderOnItsNode(answeredSeeing('node', 'edge')),
          }),
          { from: 'client', to: nodePort('web', 2), expect: silent },
          { from: 'pod:far', to: nodePort('web', 2), expect: answeredSeeing('own', 'edge') },
        ],
      },
    ],
  },
  {
    name: 'external-policy/not-for-cluster-ip',
    title: 'externalTrafficPolicy Local says nothing about the ClusterIP of the same Service',
    pods: FIRST_NODE,
    services: { web: NODE_PORT },
    steps: [
      {
        ask: [
          { from: 'pod:far', to: clusterIP('web'), expect: answeredSeeing('own', 'a', 'a2') },
          { from: 'node2', to: clusterIP('web'), expect: answeredSeeing('node', 'a', 'a2') },
          { from: 'client@node2', to: clusterIP('web'), expect: answeredSeeing('node', 'a', 'a2') },
        ],
      },
    ],
  },
  {
    name: 'external-policy/both-policies-local',
    title: 'With both policies Local a ClusterIP is local to pods while a NodePort is not',
    pods: BOTH_NODES,
    services: {
      web: {
        spec: {
          type: 'NodePort',
          externalTrafficPolicy: 'Local',
          internalTrafficPolicy: 'Local',
        },
      },
    },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredSeeing('own', 'a') },
          { from: 'pod:near', to: nodePort('web', 1), expect: answeredSeeing('own', 'a', 'b') },
          { from: 'client', to: nodePort('web', 2), expect: answeredSeeing('own', 'b') },
        ],
      },
    ],
  },
  {
    name: 'external-policy/switch',
    title: 'Switching externalTrafficPolicy takes effect on every node',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: { web: NODE_PORT },
    steps: [
      { ask: [{ from: 'client', to: nodePort('web', 2), expect: silent }] },
      { change: [{ patchService: 'web', to: { spec: { externalTrafficPolicy: 'Cluster' } } }] },
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('node', 'a') },
          { from: 'client', to: nodePort('web', 2), expect: answeredSeeing('node', 'a') },
        ],
      },
      { change: [{ patchService: 'web', to: { spec: { externalTrafficPolicy: 'Local' } } }] },
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('own', 'a') },
          { from: 'client', to: nodePort('web', 2), expect: silent },
        ],
      },
    ],
  },
  {
    name: 'external-policy/endpoint-moves',
    title: 'With externalTrafficPolicy Local a NodePort follows its endpoint to another node',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: { web: NODE_PORT },
    steps: [
      { ask: [{ from: 'client', to: nodePort('web', 1), expect: answeredBy('a') }] },
      { change: [{ addPod: 'b', pod: on(2) }, { removePod: 'a' }] },
      {
        ask: [
          { from: 'client', to: nodePort('web', 2), expect: answeredSeeing('own', 'b') },
          { from: 'client', to: nodePort('web', 1), expect: silent },
        ],
      },
    ],
  },
];
