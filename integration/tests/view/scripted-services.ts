import type { Change } from '../../../src/wings/view/protocol/changes-answer.ts';
import type { DotState, Dots } from '../../../src/wings/view/protocol/dots-answer.ts';
import type {
  EndpointAnswer,
  FrontendAnswer,
  ServiceAnswer,
} from '../../../src/wings/view/protocol/service-page.ts';

/** 14:07:31 UTC on some day. */
export const NOW_MS = Date.UTC(2026, 10, 17, 14, 8, 12);

const NAMED: Readonly<Record<string, DotState>> = {
  'default/kubernetes': 'b',
  'ingress/edge': 'l',
  'kube-system/kube-dns': 'b',
  'mail/smtp': 'b',
  'obs/otlp': 'b',
  'pay/ledger': 'b',
  'search/query': 'b',
  'shop/cart': 'b',
  'shop/reviews': 'n',
  'shop/web': 'b',
};

/** Names and states of that many Services, always the same. */
export function scriptedDots(count: number, extra: readonly string[] = []): Dots {
  const names = new Map<string, DotState>([
    ...Object.entries(NAMED),
    ...extra.map((name) => [name, 'u'] as const),
  ]);
  let seed = 7;
  const random = (): number => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (let team = 1; names.size < count; team += 1) {
    const most = Math.min(
      count - names.size,
      Math.max(6, Math.floor(2600 * random() ** 4 + 60 * random())),
    );
    const namespace = `${TEAMS[team % TEAMS.length]}-${String(team).padStart(2, '0')}`;
    for (let at = 0; at < most; at += 1)
      names.set(`${namespace}/${PARTS[at % PARTS.length]}-${at}`, stateBy(random()));
  }
  const byNamespace = Map.groupBy(
    [...names].sort(([a], [b]) => (a < b ? -1 : 1)),
    ([name]) => name.slice(0, name.indexOf('/')),
  );
  const namespaces = [...byNamespace]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, all]) => ({
      name,
      services: all.map(([service]) => service.slice(name.length + 1)),
      states: all.map(([, state]) => state).join(''),
    }));
  return { version: 1, count: names.size, namespaces };
}

const TEAMS = ['team', 'stage', 'data', 'edge', 'batch', 'ml', 'web'];
const PARTS = ['api', 'front', 'cache', 'queue', 'auth', 'worker', 'store', 'feed'];

function stateBy(random: number): DotState {
  if (random < 0.0006) return 'n';
  if (random < 0.002) return 'l';
  if (random < 0.0023) return 'w';
  if (random < 0.03) return 'b';
  return random < 0.16 ? 'u' : 'q';
}

const FORWARD = { action: 'forward', list: 'cluster', masquerade: false } as const;
const MASQUERADED = { action: 'forward', list: 'cluster', masquerade: true } as const;
const ALL: FrontendAnswer['outcomes'] = { pod: FORWARD, host: MASQUERADED, outside: MASQUERADED };

export function scriptedService(service: string): ServiceAnswer {
  const isRejected = service === 'shop/reviews';
  const reject = { action: 'reject' } as const;
  const outcomes = isRejected ? { pod: reject, host: reject, outside: reject } : ALL;
  const frontends: FrontendAnswer[] = [
    { kind: 'cluster-ip', at: '10.96.0.10:80', target: '10.96.0.10:80', port: 80, outcomes },
    ...(isRejected
      ? []
      : [
          {
            kind: 'load-balancer-ip',
            at: '198.18.0.7:80',
            target: '198.18.0.7:80',
            port: 80,
            allowedSources: ['172.16.0.0/12'],
            outcomes,
          } as const,
          { kind: 'node-port', at: 'node port 30080', port: 30_080, outcomes } as const,
        ]),
  ];
  const endpoints = isRejected ? [NOT_READY] : [...READY, NOT_READY];
  return {
    service,
    ports: [
      {
        name: `${service}:http`,
        protocol: 'TCP',
        family: 'IPv4',
        affinitySeconds: 0,
        frontends,
        kernel: { is: 'applied' },
        ...(isRejected
          ? { newPerSecond: 0, rejectedPerSecond: 184, live: 0 }
          : { newPerSecond: 5640, live: 412 }),
        endpoints,
        endpointCount: endpoints.length,
        selectedCount: endpoints.length - 1,
      },
    ],
    changes: scriptedChanges().filter(
      (change) => change.service === service || change.service === '',
    ),
  };
}

const READY = (
  [
    ['10.1.0.2:8080', 'node1', 1720],
    ['10.1.3.17:8080', 'node2', 1610],
    ['10.1.5.9:8080', 'node3', 1180],
    ['10.1.8.31:8080', 'node4', 1130],
  ] as const
).map(
  ([endpoint, nodeName, newPerSecond]): EndpointAnswer => ({
    endpoint,
    nodeName,
    isHere: nodeName === 'node1',
    state: 'ready',
    selected: { cluster: true, local: nodeName === 'node1' },
    connections: newPerSecond * 61,
    newPerSecond,
    share: newPerSecond / 5640,
    live: Math.round(newPerSecond / 14),
  }),
);

const NOT_READY: EndpointAnswer = {
  endpoint: '10.1.8.40:8080',
  nodeName: 'node4',
  isHere: false,
  state: 'not ready',
  selected: { cluster: false, local: false },
  because: 'not ready',
};

type Told = Pick<Change, 'service' | 'kind' | 'tone' | 'sentence'> & Partial<Change>;

const CHANGES: readonly (readonly [agoSeconds: number, Told])[] = [
  [
    41,
    {
      service: 'shop/reviews',
      kind: 'endpoints',
      tone: 'bad',
      sentence: '10.1.4.12 became not ready, was ready',
      slice: 'reviews-k2m9p',
      resourceVersion: '88431207',
      by: 'kube-controller-manager (Update)',
      kernel: 'kernel',
      settledAfterMs: 0.39,
    },
  ],
  [
    70,
    {
      service: 'shop/web',
      kind: 'endpoints',
      tone: 'usual',
      sentence: '10.1.8.40 joined, not ready',
      slice: 'web-x7z5k',
      resourceVersion: '88431190',
      by: 'kube-controller-manager (Update)',
      kernel: 'unneeded',
    },
  ],
  [
    924,
    {
      service: '',
      kind: 'repaired',
      tone: 'good',
      sentence:
        'inspected the kernel, because of the external change: 350 differences, 41 rows written again',
      kernel: 'kernel',
      settledAfterMs: 31,
    },
  ],
  [
    924,
    {
      service: '',
      kind: 'drift',
      tone: 'bad',
      sentence: 'firewalld (pid 1187) changed objects of fairlead: 350 objects deleted',
      by: 'firewalld (pid 1187)',
    },
  ],
  [
    1682,
    {
      service: 'pay/ledger',
      kind: 'endpoints',
      tone: 'usual',
      sentence:
        '10.1.3.40, 10.1.5.40, 10.1.8.77 joined, ready; 10.1.3.12, 10.1.5.12, 10.1.8.12 left, were ready',
      slice: 'ledger-q8n2v',
      resourceVersion: '88429870',
      by: 'kube-controller-manager (Update)',
      kernel: 'kernel',
      settledAfterMs: 0.44,
    },
  ],
  [
    1683,
    {
      service: 'pay/ledger',
      kind: 'flows',
      tone: 'usual',
      sentence:
        '12 conntrack entries deleted, of 10.1.3.12, 10.1.5.12, 10.1.8.12: the endpoint left',
    },
  ],
  [
    3377,
    {
      service: 'default/kubernetes',
      kind: 'endpoints',
      tone: 'usual',
      sentence: '172.31.0.4 left, was ready',
      slice: 'kubernetes',
      resourceVersion: '88427001',
      by: 'kube-apiserver (Update)',
      kernel: 'kernel',
      settledAfterMs: 0.52,
    },
  ],
  [
    1_036_800,
    {
      service: '',
      kind: 'started',
      tone: 'usual',
      sentence:
        'the agent started, version 1.0.0, mode nftables; the history begins here: what was before is not known',
    },
  ],
];

/** Newest first. */
export function scriptedChanges(): Change[] {
  return CHANGES.map(([agoSeconds, told], at) => ({
    seq: CHANGES.length - at,
    atMs: NOW_MS - agoSeconds * 1000,
    ...told,
  }));
}
