import type { Otherwise, Question, Scenario, Setup } from '../scenario.ts';
import {
  answeredSeeing,
  asker,
  clusterIP,
  fromEach,
  fromForwarderToNeighbours,
  nodePort,
  on,
  silent,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const OTHERS = ['node1', 'node2', 'client@node1', 'machine@node2'];

/** However a node detects its own pods, packets must be treated the same. */
function podsKeptOthersMasked(otherwise: Otherwise): Question[] {
  return [
    ...fromEach(['pod:near', 'pod:far'], {
      to: clusterIP('web'),
      expect: answeredSeeing('own', 'a', 'b'),
      otherwise,
    }),
    ...fromEach(OTHERS, { to: clusterIP('web'), expect: answeredSeeing('node', 'a', 'b') }),
  ];
}

interface Detection {
  readonly name: string;
  readonly title: string;
  readonly setup: Setup;
  readonly otherwise?: Otherwise;
}

function detection(mode: Detection): Scenario {
  return {
    name: `masquerade/${mode.name}`,
    title: mode.title,
    setup: mode.setup,
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [{ ask: podsKeptOthersMasked(mode.otherwise ?? {}) }],
  };
}

/**
 * With a detection that knows only the pods of its own node, a pod of another node that connects
 * to a NodePort here is external: it gets no endpoint on a third node.
 */
function otherNodesPods(mode: { name: string; title: string; setup: Setup }): Scenario {
  return {
    name: `masquerade/${mode.name}`,
    title: mode.title,
    setup: mode.setup,
    pods: { b: on(2), near: asker(1), far: asker(2) },
    services: { web: { spec: { type: 'NodePort', externalTrafficPolicy: 'Local' } } },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: nodePort('web', 1), expect: answeredSeeing('own', 'b') },
          { from: 'pod:far', to: nodePort('web', 1), expect: silent },
        ],
      },
    ],
  };
}

const NODE_CIDR: Setup = { proxy: { detectLocalMode: 'NodeCIDR' } };
const INTERFACE_PREFIX: Setup = { proxy: { detectLocalMode: 'InterfaceNamePrefix' } };

export const masqueradeScenarios: readonly Scenario[] = [
  detection({
    name: 'by-cluster-cidr',
    title: 'Known by the CIDR of the cluster, pods keep their address and all others do not',
    setup: {},
  }),
  detection({
    name: 'by-node-cidr',
    title: 'Known by the CIDR of their node, pods keep their address and all others do not',
    setup: NODE_CIDR,
  }),
  otherNodesPods({
    name: 'by-node-cidr-other-nodes',
    title: 'Known by the CIDR of their node, pods of other nodes count as outside',
    setup: NODE_CIDR,
  }),
  detection({
    name: 'by-interface-prefix',
    title: 'Known by the name of their interface, pods keep their address and all others do not',
    setup: INTERFACE_PREFIX,
  }),
  otherNodesPods({
    name: 'by-interface-prefix-other-nodes',
    title: 'Known by the name of their interface, pods of other nodes count as outside',
    setup: INTERFACE_PREFIX,
  }),
  detection({
    name: 'by-bridge',
    title: 'Known by the bridge they are on, pods keep their address and all others do not',
    setup: { podNetwork: 'bridge', proxy: { detectLocalMode: 'BridgeInterface' } },
    otherwise: fromForwarderToNeighbours('a', 'b'),
  }),
  {
    name: 'masquerade/all',
    title: 'With masqueradeAll, pods too reach a ClusterIP under the address of their node',
    setup: { proxy: { masqueradeAll: true } },
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      {
        ask: fromEach(['pod:near', 'pod:far', ...OTHERS], {
          to: clusterIP('web'),
          expect: answeredSeeing('node', 'a', 'b'),
        }),
      },
    ],
  },
  {
    name: 'masquerade/all-spares-local-policy',
    title: 'masqueradeAll is for ClusterIPs: externalTrafficPolicy Local still shows the client',
    setup: { proxy: { masqueradeAll: true } },
    pods: EVERYWHERE,
    services: { web: { spec: { type: 'NodePort', externalTrafficPolicy: 'Local' } } },
    steps: [
      {
        ask: [
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('own', 'a') },
          { from: 'pod:near', to: nodePort('web', 1), expect: answeredSeeing('own', 'a', 'b') },
        ],
      },
    ],
  },
];
