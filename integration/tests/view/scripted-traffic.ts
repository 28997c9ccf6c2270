import type {
  MapFlow,
  MapService,
  SourceRates,
  TrafficMap,
} from '../../../src/wings/view/protocol/traffic-tick.ts';

type Row = readonly [
  service: string,
  from: SourceRates,
  ends: Readonly<Record<string, number>>,
  endpoints: number,
];

const NODES = ['node2', 'node3', 'node4'];

/** New connections a second of a busy shop, by where they come from and end. */
const ROWS: readonly Row[] = [
  [
    'shop/web:http',
    { pod: 3100, host: 60, outside: 2480 },
    { here: 1720, 'node:node2': 1610, 'node:node3': 1180, 'node:node4': 1130 },
    4,
  ],
  ['kube-system/kube-dns:dns', { pod: 3420, host: 520 }, { here: 3940 }, 2],
  ['ingress/edge:https', { pod: 40, outside: 1650 }, { here: 1690 }, 2],
  [
    'shop/cart:grpc',
    { pod: 1510 },
    { here: 380, 'node:node2': 390, 'node:node3': 370, 'node:node4': 370 },
    8,
  ],
  [
    'search/query:http',
    { pod: 720, outside: 310 },
    { here: 110, 'node:node2': 330, 'node:node3': 300, 'node:node4': 290 },
    12,
  ],
  ['obs/otlp:grpc', { pod: 600, host: 340 }, { here: 940 }, 1],
  ['pay/ledger:grpc', { pod: 860 }, { 'node:node2': 300, 'node:node3': 280, 'node:node4': 280 }, 3],
  [
    'default/kubernetes:https',
    { pod: 210, host: 190 },
    { 'node:node2': 140, 'node:node3': 130, 'node:node4': 130 },
    3,
  ],
  ['mail/smtp:smtp', { pod: 96, outside: 150 }, { 'node:node3': 126, 'node:node4': 120 }, 2],
  ['shop/reviews:http', {}, {}, 0],
];

const OTHERS: Row = [
  'others',
  { pod: 1100, host: 100, outside: 760 },
  { here: 480, 'node:node2': 560, 'node:node3': 470, others: 442 },
  812,
];

const REJECTED: Readonly<Record<string, Pick<MapFlow, 'rejectedPerSecond' | 'droppedPerSecond'>>> =
  {
    'shop/reviews:http': { rejectedPerSecond: 184 },
    'ingress/edge:https': { droppedPerSecond: 40 },
  };

/** `sway` moves every figure by some percent, so that ticks differ. */
export function scriptedTraffic(ports: number, sway: (key: string) => number): TrafficMap {
  const services = ROWS.map((row) => serviceOf(row, sway));
  const rest = flowOf(OTHERS, sway);
  const flows = [...services, rest];
  const sum = (of: (flow: MapFlow) => number | undefined): number =>
    flows.reduce((so, flow) => so + (of(flow) ?? 0), 0);
  const endRate = (id: string): number =>
    sum((flow) => flow.ends?.find(([end]) => end === id)?.[1]);
  return {
    sources: {
      pod: sum((flow) => flow.from?.pod),
      host: sum((flow) => flow.from?.host),
      outside: sum((flow) => flow.from?.outside),
    },
    services,
    others: { ...rest, ports: ports - services.length },
    ends: [
      { id: 'here', kind: 'here', perSecond: endRate('here'), endpoints: 41 },
      ...NODES.map((name) => ({
        id: `node:${name}`,
        kind: 'node' as const,
        name,
        perSecond: endRate(`node:${name}`),
        endpoints: 27,
      })),
      { id: 'others', kind: 'others', perSecond: endRate('others'), endpoints: 96 },
      { id: 'rejected', kind: 'rejected', perSecond: sum((flow) => flow.rejectedPerSecond) },
      { id: 'dropped', kind: 'dropped', perSecond: sum((flow) => flow.droppedPerSecond) },
    ],
  };
}

function serviceOf(row: Row, sway: (key: string) => number): MapService {
  const isDns = row[0].endsWith(':dns');
  return {
    service: row[0],
    protocol: isDns ? 'UDP' : 'TCP',
    family: 'IPv4',
    endpoints: row[3],
    ...flowOf(row, sway),
    ...REJECTED[row[0]],
  };
}

function flowOf([service, from, ends]: Row, sway: (key: string) => number): MapFlow {
  const factor = sway(service);
  const scaled = (value: number): number => Math.round(value * factor);
  return {
    newPerSecond: scaled(Object.values(ends).reduce((so, each) => so + each, 0)),
    live: scaled(412),
    from: Object.fromEntries(Object.entries(from).map(([key, value]) => [key, scaled(value)])),
    ends: Object.entries(ends).map(([id, value]) => [id, scaled(value)] as const),
  };
}
