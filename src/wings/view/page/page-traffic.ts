import type { MapEnd, MapFlow, TrafficMap } from '../protocol/traffic-tick.ts';
import { count, counted } from './figures.ts';
import { serviceOfPort } from './route.ts';

/** The traffic map as three columns with flows between them. */
export interface Traffic {
  /** Empty: not known. */
  readonly sources: readonly Column[];
  readonly services: readonly ServiceColumn[];
  readonly ends: readonly Column[];
}

export interface Column {
  readonly id: string;
  /** For its colour and pattern. */
  readonly kind: string;
  readonly label: string;
  readonly note: string;
  readonly perSecond: number | undefined;
}

export interface ServiceColumn {
  /** Of the port and its family; `others`. */
  readonly id: string;
  readonly label: string;
  /** `namespace/name`; undefined: all others. */
  readonly service: string | undefined;
  readonly perSecond: number | undefined;
  readonly isRejected: boolean;
  readonly from: readonly Part[];
  readonly to: readonly Part[];
}

export interface Part {
  readonly id: string;
  readonly perSecond: number;
}

const SOURCES: readonly (readonly [id: 'pod' | 'host' | 'outside' | 'unknown', label: string])[] = [
  ['pod', 'pods of this node'],
  ['host', 'this node itself'],
  ['outside', 'from outside'],
  ['unknown', 'other clients'],
];

const END_ORDER = ['here', 'node', 'others', 'unplaced', 'rejected', 'dropped'];

export function trafficOf({ sources, services, others, ends }: TrafficMap): Traffic {
  const ports = services.map((each): ServiceColumn => {
    const family = each.family === 'IPv4' ? '' : ` ${each.family}`;
    const protocol = each.protocol === 'TCP' ? '' : ` ${each.protocol}`;
    return {
      id: `${each.service} ${each.protocol} ${each.family}`,
      label: `${each.service}${protocol}${family}`,
      service: serviceOfPort(each.service),
      ...flowOf(each),
    };
  });
  const rest: ServiceColumn = {
    id: 'others',
    label: counted(others.ports, 'other', 'others'),
    service: undefined,
    ...flowOf(others),
  };
  const all = others.ports > 0 ? [...ports, rest] : ports;
  return {
    sources: SOURCES.filter(([id]) => sources[id] !== undefined).map(([id, label]) => ({
      id,
      kind: id,
      label,
      note: '',
      perSecond: sources[id],
    })),
    services: all,
    ends: endsOf(ends, all),
  };
}

function flowOf(flow: MapFlow): Pick<ServiceColumn, 'perSecond' | 'isRejected' | 'from' | 'to'> {
  const { newPerSecond, rejectedPerSecond = 0, droppedPerSecond = 0 } = flow;
  const ends = new Map(flow.ends ?? []);
  if (rejectedPerSecond > 0) ends.set('rejected', rejectedPerSecond);
  if (droppedPerSecond > 0) ends.set('dropped', droppedPerSecond);
  const rejected = rejectedPerSecond + droppedPerSecond;
  return {
    perSecond:
      newPerSecond === undefined && rejected === 0 ? undefined : (newPerSecond ?? 0) + rejected,
    isRejected: rejected > 0,
    from: SOURCES.map(([id]) => ({ id, perSecond: flow.from?.[id] ?? 0 })).filter(isFlowing),
    to: [...ends].map(([id, perSecond]) => ({ id, perSecond })).filter(isFlowing),
  };
}

function isFlowing({ perSecond }: Part): boolean {
  return perSecond > 0;
}

/** Those that the server names, and those that only flows name. */
function endsOf(ends: readonly MapEnd[], services: readonly ServiceColumn[]): Column[] {
  const sums = new Map<string, number>();
  for (const { id, perSecond } of services.flatMap(({ to }) => to)) {
    sums.set(id, (sums.get(id) ?? 0) + perSecond);
  }
  const named = ends.map((end) => ({
    ...columnOf(end),
    perSecond: end.perSecond ?? sums.get(end.id),
  }));
  const missing = [...sums.keys()]
    .filter((id) => !ends.some((end) => end.id === id))
    .map((id) => ({ ...columnOf({ id, kind: kindOf(id) }), perSecond: sums.get(id) }));
  const isRejection = (kind: string): boolean => kind === 'rejected' || kind === 'dropped';
  return [...named, ...missing]
    .filter(({ kind, perSecond }) => !isRejection(kind) || (perSecond ?? 0) > 0)
    .sort((a, b) => END_ORDER.indexOf(a.kind) - END_ORDER.indexOf(b.kind));
}

function kindOf(id: string): MapEnd['kind'] {
  if (id.startsWith('node:')) return 'node';
  const kinds: readonly MapEnd['kind'][] = ['here', 'others', 'unplaced', 'rejected', 'dropped'];
  return kinds.find((kind) => kind === id) ?? 'unplaced';
}

function columnOf({ id, kind, name, endpoints }: MapEnd): Omit<Column, 'perSecond'> {
  const note =
    endpoints === undefined ? '' : `${count(endpoints)} endpoint${endpoints === 1 ? '' : 's'}`;
  switch (kind) {
    case 'here':
      return { id, kind, label: 'on this node', note };
    case 'node':
      return { id, kind, label: name ?? id.slice('node:'.length), note };
    case 'others':
      return { id, kind, label: 'other nodes', note };
    case 'unplaced':
      return { id, kind, label: 'node not known', note };
    case 'rejected':
      return { id, kind, label: '✕ rejected', note: 'no endpoint anywhere' };
    case 'dropped':
      return { id, kind, label: '▽ dropped', note: 'no endpoint on this node' };
  }
}
