import type { Scenario, ServiceDeclaration, Setup } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  fromEach,
  nodePort,
  on,
  onSctp,
  SCTP_PORT,
  silent,
  stickyTo,
  vip,
} from '../words.ts';

const SCTP: Setup = { kernel: ['sctp'] };
const ASKERS = { near: asker(1), far: asker(2) };
const BOTH_NODES = { a: onSctp(1), b: onSctp(2), ...ASKERS };
const EVERYBODY = ['pod:near', 'pod:far', 'node1', 'client@node1', 'machine@node2'];
const ANY = stickyTo('a', 'b', 'c');
/**
 * Attempts are made after 0, 0.4, 1.2 and 2.8 seconds, and the ICMP error of the last is noticed at the
 * latest: seen in User-mode Linux with nftables after 2.8 to 3.0 s.
 */
const REFUSED = { expect: { refused: true, withinMs: 3_500 } } as const;
/** A source port that no client chooses by itself. */
const SOURCE_PORT = 20_132;

function service(more: Omit<ServiceDeclaration, 'ports'> = {}): ServiceDeclaration {
  return { ports: [SCTP_PORT], ...more };
}

/** Asked with sockets of SCTP, so only in a kernel that has them. */
export const sctpScenarios: readonly Scenario[] = [
  {
    name: 'sctp/cluster-ip',
    title: 'An SCTP association to a ClusterIP reaches every endpoint, which sees a pod as it is',
    setup: SCTP,
    pods: BOTH_NODES,
    services: { web: service() },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'pod:far'], {
            to: clusterIP('web'),
            expect: answeredSeeing('own', 'a', 'b'),
          }),
          ...fromEach(['node1', 'node2', 'client@node1', 'machine@node2'], {
            to: clusterIP('web'),
            expect: answeredSeeing('node', 'a', 'b'),
          }),
        ],
      },
    ],
  },
  {
    name: 'sctp/node-port',
    title: 'An SCTP association to a NodePort reaches endpoints of every node',
    setup: SCTP,
    pods: BOTH_NODES,
    services: { web: service({ spec: { type: 'NodePort' } }) },
    steps: [
      {
        ask: [
          ...fromEach(['client', 'machine', 'pod:near', 'node2'], {
            to: nodePort('web', 1),
            expect: answeredBy('a', 'b'),
          }),
          { from: 'client', to: nodePort('web', 2), expect: answeredSeeing('node', 'a', 'b') },
        ],
      },
    ],
  },
  {
    name: 'sctp/external-ip',
    title: 'An SCTP association to an external IP reaches every endpoint',
    setup: SCTP,
    pods: BOTH_NODES,
    services: { web: service({ externalIPs: ['external'] }) },
    steps: [
      {
        ask: fromEach(EVERYBODY, {
          to: vip('external', 'web'),
          expect: answeredBy('a', 'b'),
          escapes: false,
        }),
      },
    ],
  },
  {
    name: 'sctp/affinity',
    title: 'With ClientIP affinity, every SCTP association of one client reaches the same endpoint',
    setup: SCTP,
    pods: { a: onSctp(1), b: onSctp(2), c: onSctp(1), ...ASKERS },
    services: { web: service({ spec: { type: 'NodePort', sessionAffinity: 'ClientIP' } }) },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'pod:far', 'node1'], { to: clusterIP('web'), expect: ANY }),
          ...fromEach(['client', 'machine'], { to: nodePort('web', 2), expect: ANY }),
        ],
      },
    ],
  },
  {
    name: 'sctp/external-policy-local',
    title: 'externalTrafficPolicy Local holds for SCTP as for TCP',
    setup: SCTP,
    pods: { a: onSctp(1), ...ASKERS },
    services: {
      web: service({ spec: { type: 'NodePort', externalTrafficPolicy: 'Local' } }),
    },
    steps: [
      {
        ask: [
          ...fromEach(['client', 'machine'], {
            to: nodePort('web', 1),
            expect: answeredSeeing('own', 'a'),
          }),
          ...fromEach(['client', 'machine'], { to: nodePort('web', 2), expect: silent }),
          { from: 'pod:far', to: nodePort('web', 2), expect: answeredBy('a') },
        ],
      },
    ],
  },
  {
    name: 'sctp/internal-policy-local',
    title: 'internalTrafficPolicy Local holds for SCTP as for TCP',
    setup: SCTP,
    pods: { a: onSctp(1), b: onSctp(2), ...ASKERS },
    services: { web: service({ spec: { internalTrafficPolicy: 'Local' } }) },
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), expect: answeredSeeing('own', 'a') },
          { from: 'pod:far', to: clusterIP('web'), expect: answeredSeeing('own', 'b') },
          { from: 'node2', to: clusterIP('web'), expect: answeredBy('b') },
        ],
      },
    ],
  },
  {
    name: 'sctp/no-endpoints',
    title: 'An SCTP association to a Service without endpoints is refused at once',
    setup: SCTP,
    pods: ASKERS,
    services: { web: service({ spec: { type: 'NodePort' }, externalIPs: ['external'] }) },
    steps: [
      {
        ask: [
          ...fromEach(EVERYBODY, { to: clusterIP('web'), ...REFUSED, escapes: false }),
          ...fromEach(['client', 'pod:near', 'node1'], {
            to: nodePort('web', 1),
            ...REFUSED,
          }),
          ...fromEach(['pod:far', 'client@node1'], {
            to: vip('external', 'web'),
            ...REFUSED,
            escapes: false,
          }),
        ],
      },
    ],
  },
  {
    name: 'sctp/replaced-endpoint',
    title: 'SCTP clients reach the new endpoint when the old one is replaced, by the same port too',
    setup: SCTP,
    pods: { old: onSctp(1), ...ASKERS },
    services: { web: service({ spec: { type: 'NodePort' } }) },
    steps: [
      {
        hold: { name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: answeredBy('old') },
      },
      ...replacedAsk('old'),
      { change: [{ removePod: 'old' }, { addPod: 'new', pod: onSctp(2) }] },
      ...replacedAsk('new'),
      {
        ask: [
          ...fromEach(['pod:near', 'node1'], { to: clusterIP('web'), expect: answeredBy('new') }),
          { from: 'client', to: nodePort('web', 2), expect: answeredBy('new') },
        ],
      },
      { change: [{ removePod: 'new' }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), ...REFUSED, escapes: false }] },
    ],
  },
  {
    name: 'sctp/survives-termination',
    title: 'An SCTP association continues while its pod terminates, though new ones go elsewhere',
    setup: SCTP,
    pods: { a: onSctp(2), ...ASKERS },
    services: { web: service({ spec: { type: 'NodePort' } }) },
    steps: [
      { hold: { name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') } },
      { hold: { name: 'port', from: 'client', to: nodePort('web', 1), expect: answeredBy('a') } },
      { change: [{ addPod: 'b', pod: onSctp(1) }, { terminate: 'a' }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('b') }] },
      { held: 'pod', expect: answeredBy('a') },
      { held: 'port', expect: answeredBy('a') },
    ],
  },
  {
    name: 'sctp/hairpin',
    title: 'A pod reaches itself by SCTP through a ClusterIP and sees its node as the source',
    setup: SCTP,
    pods: { a: onSctp(1) },
    services: { web: service() },
    steps: [
      { ask: [{ from: 'pod:a', to: clusterIP('web'), expect: answeredSeeing('node', 'a') }] },
    ],
  },
  {
    name: 'sctp/beside-tcp-on-one-port',
    title: 'TCP and SCTP on the same port number are two ports, each with endpoints of its own',
    setup: SCTP,
    pods: {
      stream: on(1, { ports: [{ name: 'stream', port: 8080, protocol: 'TCP' }] }),
      signal: onSctp(2),
      ...ASKERS,
    },
    services: {
      web: {
        ports: [
          { name: 'stream', port: 132, targetPort: 'stream', protocol: 'TCP' },
          { ...SCTP_PORT, name: 'signal' },
        ],
      },
    },
    steps: [
      {
        ask: [
          ...fromEach(EVERYBODY, { to: clusterIP('web', 'stream'), expect: answeredBy('stream') }),
          ...fromEach(EVERYBODY, { to: clusterIP('web', 'signal'), expect: answeredBy('signal') }),
        ],
      },
    ],
  },
];

/** One association from a port that the client uses again. */
function replacedAsk(pod: string): Scenario['steps'] {
  return [
    {
      ask: [
        {
          from: 'pod:far',
          to: clusterIP('web'),
          connections: 1,
          sourcePort: SOURCE_PORT,
          expect: answeredBy(pod),
        },
      ],
    },
  ];
}
