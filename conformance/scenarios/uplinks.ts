import type { Scenario, Target } from '../scenario.ts';
import {
  answeredSeeing,
  asker,
  clusterIP,
  differently,
  IPTABLES,
  nodePort,
  on,
  refused,
} from '../words.ts';

const NETWORK = 'two-uplinks';
const BOTH_LANS = ['172.30.0.0/15', 'fd00:30::/31'];
const atSecond = (node: number): Target => ({ nodePort: 'web', node, at: 'second-uplink' });

/**
 * Nodes with two uplinks: the client's packets to the second address come by the router, in by the
 * second uplink, and are answered by the first, where the client's network is.
 */
export const uplinkScenarios: readonly Scenario[] = [
  {
    name: 'uplinks/node-port-at-both',
    title: 'With nodePortAddresses that hold both uplinks of a node, its NodePorts answer at both',
    setup: { network: NETWORK, proxy: { nodePortAddresses: BOTH_LANS } },
    pods: { a: on(1), b: on(2), near: asker(1) },
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('node', 'a', 'b') },
          { from: 'client', to: atSecond(1), expect: answeredSeeing('node', 'a', 'b') },
          { from: 'client', to: atSecond(2), expect: answeredSeeing('node', 'a', 'b') },
          { from: 'node1', to: atSecond(2), expect: answeredSeeing('node', 'a', 'b') },
          { from: 'pod:near', to: atSecond(1), expect: { answeredBy: ['a', 'b'] } },
        ],
      },
    ],
  },
  {
    name: 'uplinks/node-port-at-the-first',
    title: 'By default NodePorts answer at the primary uplink of a node and not at the second',
    setup: { network: NETWORK },
    pods: { a: on(1), b: on(2) },
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('node', 'a', 'b') },
          {
            from: 'client',
            to: atSecond(1),
            expect: refused,
            otherwise: differently(IPTABLES, {
              expect: answeredSeeing('node', 'a', 'b'),
              reason: 'its NodePorts answer at every address of a node by default',
            }),
          },
        ],
      },
    ],
  },
  {
    name: 'uplinks/local-policy-keeps-the-client',
    title:
      'A client of a local endpoint keeps its address, by whichever uplink it comes and is answered',
    setup: { network: NETWORK, proxy: { nodePortAddresses: BOTH_LANS } },
    pods: { a: on(1), b: on(2), near: asker(1) },
    services: { web: { spec: { type: 'NodePort', externalTrafficPolicy: 'Local' } } },
    steps: [
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('own', 'a') },
          { from: 'client', to: atSecond(1), expect: answeredSeeing('own', 'a') },
          { from: 'client', to: atSecond(2), expect: answeredSeeing('own', 'b') },
        ],
      },
    ],
  },
  {
    name: 'uplinks/masqueraded-by-the-way-out',
    title:
      'What a node forwards to pods of another is masqueraded with an address that answers reach',
    setup: { network: NETWORK },
    pods: { b: on(2), near: asker(1) },
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('node', 'b') },
          { from: 'client@node1', to: clusterIP('web'), expect: answeredSeeing('node', 'b') },
          { from: 'node1', to: clusterIP('web'), expect: answeredSeeing('node', 'b') },
          { from: 'pod:near', to: clusterIP('web'), expect: answeredSeeing('own', 'b') },
        ],
      },
    ],
  },
];
