import type { Answer, Question, Scenario, ServiceDeclaration, Step } from '../scenario.ts';
import {
  answeredBy,
  asker,
  clusterIP,
  IPVS,
  on,
  stickyTo,
  UDP_PORT,
  vip,
  WITH_SCHEDULERS,
} from '../words.ts';

const ANNOTATION = 'fairlead.dev/ipvs-scheduler';
const SERVING = ['a', 'b', 'c'];
const ONE = stickyTo(...SERVING);
const EACH = answeredBy(...SERVING);
/** All connections pass one node: each node distributes by itself. */
const PODS = { a: on(1), b: on(2), c: on(1), near: asker(1) };
/** The lab has few pods with many addresses. */
const CROWDED = { ...PODS, crowd: { ...asker(1), moreAddresses: 48 } };
const SOURCES = Array.from({ length: 48 }, (_, index) => `pod:crowd#${index + 1}`);
const ADDRESSES = Array.from({ length: 16 }, (_, index) => `external-${index + 1}`);
const HELD = ['first', 'second', 'third', 'fourth'];

const TO_WEB = { from: 'pod:near', to: clusterIP('web') } as const;

function chosenBy(scheduler: string): ServiceDeclaration {
  return { annotations: { [ANNOTATION]: scheduler } };
}

function counts(...answeredCounts: number[]): Answer {
  return { answeredCounts, by: SERVING };
}

/** So many connections one after the other, each closed before the next one begins. */
function inTurn(connections: number, expect: Answer, more: Partial<Question> = {}): Step {
  return { ask: [{ ...TO_WEB, inTurn: 'closed', connections, expect, ...more }] };
}

/** The same, but all stay open until the last has been answered. */
function keptOpen(connections: number, expect: Answer): Step {
  return { ask: [{ ...TO_WEB, inTurn: 'open', connections, expect }] };
}

/** One connection from each source address. */
function fromSources(count: number, expect: Answer, more: Partial<Question> = {}): Step {
  const [from = '', ...alsoFrom] = SOURCES.slice(0, count);
  return inTurn(1, expect, { from, alsoFrom, ...more });
}

/** Four connections are open to `a` when `b` and `c` become ready. */
const FOUR_ON_A: readonly Step[] = [
  {
    change: [
      { setReady: 'b', ready: false },
      { setReady: 'c', ready: false },
    ],
  },
  ...HELD.map((name) => ({ hold: { ...TO_WEB, name, expect: answeredBy('a') } })),
  {
    change: [
      { setReady: 'b', ready: true },
      { setReady: 'c', ready: true },
    ],
  },
];
const STILL_ON_A: readonly Step[] = HELD.map((held) => ({ held, expect: answeredBy('a') }));

/** In turn, whoever has open connections and how many. */
const ROUND_ROBIN: readonly Step[] = [
  inTurn(12, counts(4, 4, 4)),
  ...FOUR_ON_A,
  inTurn(12, counts(4, 4, 4)),
  ...STILL_ON_A,
];

/**
 * `b` and `c` get four each until they are level with `a`, and then each one more. `closed`: whether
 * connections that have ended count for a while.
 */
function leastConnections(closed: Answer): readonly Step[] {
  return [
    inTurn(12, closed),
    ...FOUR_ON_A,
    keptOpen(11, { answeredTimes: { a: 1, b: 5, c: 5 } }),
    ...STILL_ON_A,
  ];
}

const BY_SOURCE: readonly Step[] = [
  fromSources(24, { stickyBySource: SERVING }, { connections: 3 }),
];

function scenario(name: string, title: string, steps: readonly Step[]): Scenario {
  return {
    name: `scheduler/${name}`,
    title,
    setup: { only: WITH_SCHEDULERS },
    pods: PODS,
    services: { web: chosenBy(name) },
    steps,
  };
}

/** How connections are distributed, shown by whom they reach and not by what the kernel lists. */
export const schedulerScenarios: readonly Scenario[] = [
  scenario('rr', 'rr gives each endpoint as many connections as every other', ROUND_ROBIN),
  scenario('wrr', 'wrr does the same where all weights are equal', ROUND_ROBIN),
  scenario(
    'lc',
    'lc gives no connection to an endpoint with more open ones than the others',
    leastConnections(counts(4, 4, 4)),
  ),
  scenario(
    'wlc',
    'wlc does the same where all weights are equal',
    leastConnections(counts(4, 4, 4)),
  ),
  scenario(
    'sed',
    'sed levels open connections, and does not count those that have ended',
    leastConnections(counts(12, 0, 0)),
  ),
  scenario(
    'nq',
    'nq prefers an endpoint without open connections',
    leastConnections(counts(12, 0, 0)),
  ),
  scenario('lblc', 'lblc stays with one endpoint of an address until it has too many connections', [
    inTurn(6, ONE),
    keptOpen(9, counts(5, 2, 2)),
  ]),
  scenario('lblcr', 'lblcr adds endpoints to those of an address, and levels among them', [
    inTurn(6, ONE),
    keptOpen(9, counts(3, 3, 3)),
  ]),
  {
    ...scenario('dh', 'dh chooses by the address that is asked, whoever asks', [
      inTurn(4, ONE, { alsoFrom: ['node1', 'client@node1'] }),
      { ask: ADDRESSES.map((name) => ({ ...TO_WEB, to: vip(name, 'web'), expect: ONE })) },
      inTurn(1, EACH, {
        to: vip('external-1', 'web'),
        alsoTo: ADDRESSES.slice(1).map((name) => vip(name, 'web')),
      }),
    ]),
    services: { web: { ...chosenBy('dh'), externalIPs: ADDRESSES } },
  },
  {
    ...scenario('sh', 'sh leads each client to one endpoint, and many clients to all of them', [
      ...BY_SOURCE,
      inTurn(12, ONE),
    ]),
    pods: CROWDED,
  },
  {
    ...scenario('sh-port', 'With sh-port, connections of one client go to different endpoints', [
      inTurn(40, EACH),
    ]),
    services: { web: chosenBy('sh,sh-port') },
  },
  {
    ...scenario('mh', 'mh moves the clients of a lost endpoint, and hardly any other', [
      ...BY_SOURCE,
      fromSources(48, { stickyBySource: SERVING }, { noteAs: 'before' }),
      { change: [{ removePod: 'c' }] },
      fromSources(48, { keptAs: 'before', lost: 'c', moved: 0.2 }),
    ]),
    pods: CROWDED,
  },
  scenario('fo', 'fo gives every connection to one endpoint, however many it has', [
    inTurn(6, ONE, { alsoFrom: ['node1', 'client@node1'] }),
    keptOpen(12, ONE),
  ]),
  {
    ...scenario('ovf', 'ovf fills one endpoint before it gives the next one connections', [
      inTurn(6, ONE),
      keptOpen(7, counts(3, 3, 1)),
    ]),
    services: { web: chosenBy('ovf,weight=2') },
  },
  {
    ...scenario('udp', 'A scheduler holds for UDP too', [inTurn(12, counts(4, 4, 4))]),
    services: { web: { ...chosenBy('rr'), ports: [UDP_PORT] } },
  },
  {
    ...scenario('unknown', 'With a scheduler that does not exist a Service has the default one', [
      ...ROUND_ROBIN,
    ]),
    services: { web: chosenBy('fastest') },
  },
  {
    ...scenario('changed', 'A changed scheduler holds for new connections and cuts no open one', [
      ...FOUR_ON_A,
      inTurn(12, counts(4, 4, 4)),
      { change: [{ patchService: 'web', to: { annotations: { [ANNOTATION]: 'sh' } } }] },
      inTurn(12, ONE),
      ...STILL_ON_A,
      { change: [{ patchService: 'web', to: { annotations: { [ANNOTATION]: null } } }] },
      inTurn(12, counts(4, 4, 4)),
      ...STILL_ON_A,
    ]),
    services: { web: chosenBy('rr') },
  },
  ...(
    [
      ['lc', PODS, leastConnections(counts(4, 4, 4))],
      ['sh', CROWDED, BY_SOURCE],
    ] as const
  ).map(([name, pods, steps]) => ({
    name: `scheduler/configured-${name}`,
    title: `The scheduler of the configuration, ${name}, holds for Services that name none`,
    setup: { only: IPVS, proxy: { ipvsScheduler: name } },
    pods,
    services: { web: {} },
    steps,
  })),
];
