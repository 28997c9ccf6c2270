import type {
  KnownDifference,
  Otherwise,
  Question,
  Scenario,
  ServiceDeclaration,
} from '../scenario.ts';
import {
  answeredBy,
  answeredOrSilent,
  asker,
  behindDocker,
  clusterIP,
  nodePort,
  on,
  UDP_PORT,
  unserved,
  vip,
} from '../words.ts';

/** The smallest MTU of IPv6, on every path to these pods. */
const NARROW = { pathMtu: 1280 };
/** Many full packets, and less than the buffers of both sockets. */
const TRANSFER_BYTES = 60_000;
/** Three fragments, and more than a dozen. */
const DATAGRAM_BYTES = [4_000, 20_000];

const EVERYWHERE: ServiceDeclaration = {
  spec: { type: 'NodePort' },
  externalIPs: ['external'],
};

/** From both nodes and from outside, to every kind of address of a Service. */
function everyWay(
  question: Pick<Question, 'bytes' | 'expect'>,
  fromOutside: Otherwise = {},
): Question[] {
  return [
    ...throughOneNode(question, fromOutside),
    ...throughTheOtherNode({ ...question, otherwise: fromOutside }),
  ];
}

/** `fromOutside`: for clients whose way into the cluster is wider than that to its pods. */
function throughOneNode(
  question: Pick<Question, 'bytes' | 'expect'>,
  fromOutside: Otherwise = {},
): Question[] {
  return [
    { from: 'pod:near', to: clusterIP('web'), ...question },
    { from: 'pod:far', to: clusterIP('web'), ...question },
    { from: 'node1', to: clusterIP('web'), ...question },
    { from: 'node2', to: clusterIP('web'), ...question },
    { from: 'pod:near', to: nodePort('web', 2), ...question },
    { from: 'client', to: nodePort('web', 1), ...question, otherwise: fromOutside },
  ];
}

/** Errors for these come from node1, and are forwarded by node2. */
function throughTheOtherNode(
  question: Pick<Question, 'bytes' | 'expect' | 'otherwise'>,
): Question[] {
  return [
    { from: 'client', to: nodePort('web', 2), ...question },
    { from: 'client@node2', to: vip('external', 'web'), ...question },
  ];
}

const LOST_ERROR: KnownDifference = {
  expect: unserved,
  reason:
    "the ICMP error of another node is dropped by Docker's FORWARD policy, which rules of nftables cannot overrule",
};

/** Pods behind VXLAN have a smaller MTU than what is outside. */
const LOST_BEFORE_VXLAN: Otherwise = {
  '@vxlan': {
    expect: answeredOrSilent('a', 'b'),
    reason:
      'in IPv6 only the sender fragments: a client outside loses its first large datagram to a pod behind VXLAN, and learns the size by that',
  },
};

export const packetSizeScenarios: readonly Scenario[] = [
  {
    name: 'path-mtu/narrow-path-to-endpoint',
    title: 'A sender of large packets learns that the path to the endpoint is narrower',
    pods: { a: on(1, NARROW), near: asker(1), far: asker(2) },
    services: { web: EVERYWHERE },
    // Forwarded packets first: a node that has sent there itself has cached the path MTU, and
    // would send the ICMP errors.
    steps: [
      {
        ask: throughTheOtherNode({
          bytes: TRANSFER_BYTES,
          expect: answeredBy('a'),
          otherwise: behindDocker(LOST_ERROR),
        }),
      },
      { ask: throughOneNode({ bytes: TRANSFER_BYTES, expect: answeredBy('a') }) },
    ],
  },
  {
    name: 'path-mtu/narrow-path-to-client',
    title: 'An endpoint that sends large packets learns that the path to the client is narrower',
    pods: {
      a: on(1),
      b: on(2),
      near: { ...asker(1), ...NARROW },
      far: { ...asker(2), ...NARROW },
    },
    services: { web: EVERYWHERE },
    steps: [
      {
        ask: [
          {
            from: 'pod:near',
            to: clusterIP('web'),
            bytes: TRANSFER_BYTES,
            expect: answeredBy('a', 'b'),
          },
          {
            from: 'pod:far',
            to: nodePort('web', 1),
            bytes: TRANSFER_BYTES,
            expect: answeredBy('a', 'b'),
          },
        ],
      },
    ],
  },
  {
    name: 'fragments/udp',
    title: 'A UDP datagram larger than the MTU reaches the endpoint, and so does its answer',
    pods: { a: on(1), b: on(2), near: asker(1), far: asker(2) },
    services: { web: { ...EVERYWHERE, ports: [UDP_PORT] } },
    steps: DATAGRAM_BYTES.map((bytes) => ({
      ask: everyWay({ bytes, expect: answeredBy('a', 'b') }, LOST_BEFORE_VXLAN),
    })),
  },
  {
    name: 'fragments/udp-on-a-narrow-path',
    title: 'A UDP datagram is fragmented again where the path to the endpoint is narrower',
    // In IPv6 only the sender fragments: it loses the first datagram, and learns by that.
    families: ['ipv4'],
    pods: { a: on(1, NARROW), near: asker(1), far: asker(2) },
    services: { web: { ...EVERYWHERE, ports: [UDP_PORT] } },
    steps: [{ ask: everyWay({ bytes: 4_000, expect: answeredBy('a') }) }],
  },
];
