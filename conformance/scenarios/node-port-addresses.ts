import type { KnownDifference, Question, Scenario, Target } from '../scenario.ts';
import {
  answeredBy,
  asker,
  differently,
  fromEach,
  IPTABLES,
  nodePort,
  OUR_IPVS,
  on,
  refused,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const NODE_PORT = { web: { spec: { type: 'NodePort' } } };
const BOTH = answeredBy('a', 'b');

const AT_GATEWAY: Target = { nodePort: 'web', node: 1, at: 'pod-gateway' };
const AT_LOCALHOST: Target = { nodePort: 'web', node: 'localhost' };

/** From inside and from outside, to the address that Kubernetes knows the node by. */
const SERVED_AT_PRIMARY: readonly Question[] = fromEach(['client', 'pod:near', 'node2'], {
  to: nodePort('web', 1),
  expect: BOTH,
});
const EVERY_ADDRESS: KnownDifference = {
  expect: BOTH,
  reason: 'its NodePorts answer at every address of a node by default',
};
const LOCALHOST: KnownDifference = {
  expect: BOTH,
  reason: 'its NodePorts also answer at 127.0.0.1, with route_localnet set',
};

/** IPv6 has no setting like route_localnet. */
const NOT_IN_IPV6: KnownDifference = {
  expect: refused,
  reason: 'of loopback its NodePorts answer at 127.0.0.1 only, never at ::1',
};
/** The node's own addresses and those of its pod network by range, loopback by keyword. */
const KEYWORDS_AND_RANGES = {
  nodePortAddresses: ['primary', '10.128.0.0/9', 'fd00:128::/32', 'localhost'],
  featureGates: { KubeProxyNFTablesLocalhostNodePorts: true },
};

/** The rules of nftables mode, which Kubernetes is moving to, are the ones asked for. */
export const nodePortAddressScenarios: readonly Scenario[] = [
  {
    name: 'node-port-addresses/default',
    title: 'By default NodePorts answer at the primary address of a node and at no other',
    pods: EVERYWHERE,
    services: NODE_PORT,
    steps: [
      {
        ask: [
          ...SERVED_AT_PRIMARY,
          ...fromEach(['pod:near', 'machine'], {
            to: AT_GATEWAY,
            expect: refused,
            otherwise: differently([...IPTABLES, ...OUR_IPVS], EVERY_ADDRESS),
          }),
        ],
      },
    ],
  },
  {
    name: 'node-port-addresses/localhost',
    title: 'A node does not answer NodePorts at 127.0.0.1',
    families: ['ipv4'],
    pods: EVERYWHERE,
    services: NODE_PORT,
    steps: [
      {
        ask: [
          {
            from: 'node1',
            to: AT_LOCALHOST,
            expect: refused,
            otherwise: differently(IPTABLES, LOCALHOST),
          },
        ],
      },
    ],
  },
  {
    name: 'node-port-addresses/localhost-in-ipv6',
    title: 'A node does not answer NodePorts at ::1',
    families: ['ipv6'],
    pods: EVERYWHERE,
    services: NODE_PORT,
    steps: [{ ask: [{ from: 'node1', to: AT_LOCALHOST, expect: refused }] }],
  },
  {
    name: 'node-port-addresses/range',
    title: 'With nodePortAddresses, NodePorts answer at addresses inside the ranges only',
    setup: { proxy: { nodePortAddresses: ['172.30.0.0/16', 'fd00:30::/64'] } },
    pods: EVERYWHERE,
    services: NODE_PORT,
    steps: [
      {
        ask: [
          ...SERVED_AT_PRIMARY,
          ...fromEach(['pod:near', 'machine'], { to: AT_GATEWAY, expect: refused }),
          { from: 'node1', to: AT_LOCALHOST, expect: refused },
        ],
      },
    ],
  },
  {
    name: 'node-port-addresses/range-without-endpoints',
    title: 'With nodePortAddresses, a NodePort without endpoints refuses everywhere',
    setup: { proxy: { nodePortAddresses: ['172.30.0.0/16', 'fd00:30::/64'] } },
    pods: { near: asker(1) },
    services: NODE_PORT,
    steps: [
      {
        ask: [
          ...fromEach(['client', 'pod:near', 'node2'], { to: nodePort('web', 1), expect: refused }),
          { from: 'pod:near', to: AT_GATEWAY, expect: refused },
        ],
      },
    ],
  },
  {
    name: 'node-port-addresses/all-but-localhost',
    title: 'With ranges that hold everything and localhost off, every other address answers',
    setup: { proxy: { nodePortAddresses: ['0.0.0.0/0', '::/0'], localhostNodePorts: false } },
    pods: EVERYWHERE,
    services: NODE_PORT,
    steps: [
      {
        ask: [
          ...SERVED_AT_PRIMARY,
          ...fromEach(['pod:near', 'machine'], { to: AT_GATEWAY, expect: BOTH }),
          { from: 'node1', to: AT_LOCALHOST, expect: refused },
        ],
      },
    ],
  },
  {
    name: 'node-port-addresses/all',
    title: 'With the keyword all, every address but loopback answers',
    setup: {
      proxy: { nodePortAddresses: ['all'], localhostNodePorts: false },
      proxySince: '1.37',
    },
    pods: EVERYWHERE,
    services: NODE_PORT,
    steps: [
      {
        ask: [
          ...SERVED_AT_PRIMARY,
          ...fromEach(['pod:near', 'machine'], { to: AT_GATEWAY, expect: BOTH }),
          { from: 'node1', to: AT_LOCALHOST, expect: refused },
        ],
      },
    ],
  },
  {
    name: 'node-port-addresses/keywords-and-ranges',
    title: 'Keywords and ranges add up: primary addresses, a range and loopback answer',
    families: ['ipv4'],
    setup: { proxy: KEYWORDS_AND_RANGES, proxySince: '1.37' },
    pods: EVERYWHERE,
    services: NODE_PORT,
    steps: [
      {
        ask: [
          ...SERVED_AT_PRIMARY,
          ...fromEach(['pod:near', 'machine'], { to: AT_GATEWAY, expect: BOTH }),
          {
            from: 'node1',
            to: AT_LOCALHOST,
            expect: BOTH,
          },
        ],
      },
      { change: [{ setReady: 'a', ready: false }] },
      {
        ask: [
          {
            from: 'node1',
            to: AT_LOCALHOST,
            expect: answeredBy('b'),
          },
        ],
      },
      { change: [{ setReady: 'b', ready: false }] },
      { ask: [{ from: 'node1', to: AT_LOCALHOST, expect: refused }] },
    ],
  },
  {
    name: 'node-port-addresses/keywords-and-ranges-in-ipv6',
    title: 'Keywords and ranges add up in IPv6: primary addresses, a range and loopback answer',
    families: ['ipv6'],
    setup: { proxy: KEYWORDS_AND_RANGES, proxySince: '1.37' },
    pods: EVERYWHERE,
    services: NODE_PORT,
    steps: [
      {
        ask: [
          ...SERVED_AT_PRIMARY,
          ...fromEach(['pod:near', 'machine'], { to: AT_GATEWAY, expect: BOTH }),
          {
            from: 'node1',
            to: AT_LOCALHOST,
            expect: BOTH,
            otherwise: differently(IPTABLES, NOT_IN_IPV6),
          },
        ],
      },
    ],
  },
  {
    name: 'node-port-addresses/localhost-without-the-gate',
    title: 'Without its feature gate the keyword localhost closes every other address, and no more',
    setup: { proxy: { nodePortAddresses: ['localhost'] }, proxySince: '1.37' },
    families: ['ipv4'],
    pods: EVERYWHERE,
    services: NODE_PORT,
    steps: [
      {
        ask: [
          ...fromEach(['client', 'pod:near', 'node2'], { to: nodePort('web', 1), expect: refused }),
          { from: 'pod:near', to: AT_GATEWAY, expect: refused },
          {
            from: 'node1',
            to: AT_LOCALHOST,
            expect: refused,
            otherwise: differently(IPTABLES, LOCALHOST),
          },
        ],
      },
    ],
  },
];
