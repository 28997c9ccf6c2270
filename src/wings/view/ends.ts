import type { ServiceFigures } from '../top/traffic-figures.ts';
import type { MapEnd } from './protocol/traffic-tick.ts';
import { rounded } from './rounding.ts';
import type { ServiceRows } from './service-rows.ts';

/** A part of a Service's connections, and where they end. */
export interface Ending {
  /** Id of a `MapEnd`. */
  readonly end: string;
  readonly perSecond: number;
}

export interface Endings {
  readonly ends: readonly MapEnd[];
  /** Undefined: not known. */
  ofRow(row: ServiceFigures): readonly Ending[] | undefined;
}

/** Other nodes that are ends of their own; the rest is one end. */
const MOST_NODES = 4;
const HERE = 'here';
const OTHERS = 'others';
const UNPLACED = 'unplaced';

interface Placed {
  /** `here`, `unplaced`, or `node:NAME`. */
  readonly at: string;
  readonly perSecond: number;
}

/** Where new connections end: at endpoints here, on other nodes, or nowhere. */
export class EndsOfFlows {
  readonly #rows: Pick<ServiceRows, 'placeOf'>;

  constructor(rows: Pick<ServiceRows, 'placeOf'>) {
    this.#rows = rows;
  }

  /** `isRejectedKnown`: the mode counts what is rejected and dropped. */
  of(rows: readonly ServiceFigures[], isRejectedKnown: boolean): Endings {
    const placed = new Map(rows.map((row) => [row, this.#placed(row)]));
    const all = [...placed.values()].flatMap((each) => each ?? []);
    const nodes = busiestNodes(all);
    const endOf = ({ at }: Placed): string => (isNode(at) && !nodes.has(at) ? OTHERS : at);
    return {
      ends: [...endpointEnds(all, endOf), ...(isRejectedKnown ? rejectedEnds(rows) : [])],
      ofRow: (row) => {
        const own = placed
          .get(row)
          ?.map((each) => ({ end: endOf(each), perSecond: each.perSecond }));
        const rejected = rejectedEndings(row);
        return own === undefined && rejected.length === 0
          ? undefined
          : [...(own ?? []), ...rejected];
      },
    };
  }

  /** Undefined: where its endpoints are was not read. */
  #placed({ service, endpoints }: ServiceFigures): readonly Placed[] | undefined {
    const name = service.replace(/:[^/]*$/, '');
    const placed: Placed[] = [];
    for (const { endpoint, newPerSecond } of endpoints) {
      if (newPerSecond === undefined) return undefined;
      const place = this.#rows.placeOf(name, endpoint);
      if (place === undefined) return undefined;
      const node = place.nodeName === '' ? UNPLACED : `node:${place.nodeName}`;
      placed.push({ at: place.isHere ? HERE : node, perSecond: newPerSecond });
    }
    return placed;
  }
}

function isNode(at: string): boolean {
  return at.startsWith('node:');
}

function busiestNodes(all: readonly Placed[]): ReadonlySet<string> {
  const sums = new Map<string, number>();
  for (const { at, perSecond } of all) {
    if (isNode(at)) sums.set(at, (sums.get(at) ?? 0) + perSecond);
  }
  const busiest = [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return new Set(busiest.slice(0, MOST_NODES).map(([at]) => at));
}

/** This node first, then other nodes by name, so that they do not change places with every tick. */
function endpointEnds(all: readonly Placed[], endOf: (placed: Placed) => string): MapEnd[] {
  const byEnd = Map.groupBy(all, endOf);
  const nodes = [...byEnd.keys()].filter(isNode).sort();
  const ids = [HERE, ...nodes, ...[OTHERS, UNPLACED].filter((id) => byEnd.has(id))];
  return ids.map((id) => {
    const own = byEnd.get(id) ?? [];
    const perSecond = own.reduce((sum, each) => sum + each.perSecond, 0);
    const kind = isNode(id) ? 'node' : (id as 'here' | 'others' | 'unplaced');
    return {
      id,
      kind,
      ...(kind === 'node' ? { name: id.slice('node:'.length) } : {}),
      perSecond: rounded(perSecond),
      endpoints: own.length,
    };
  });
}

function rejectedEnds(rows: readonly ServiceFigures[]): MapEnd[] {
  const sum = (figure: 'rejectedPerSecond' | 'droppedPerSecond'): number =>
    rounded(rows.reduce((total, row) => total + (row[figure] ?? 0), 0));
  return [
    { id: 'rejected', kind: 'rejected', perSecond: sum('rejectedPerSecond') },
    { id: 'dropped', kind: 'dropped', perSecond: sum('droppedPerSecond') },
  ];
}

function rejectedEndings({
  rejectedPerSecond = 0,
  droppedPerSecond = 0,
}: ServiceFigures): Ending[] {
  return [
    ...(rejectedPerSecond > 0 ? [{ end: 'rejected', perSecond: rejectedPerSecond }] : []),
    ...(droppedPerSecond > 0 ? [{ end: 'dropped', perSecond: droppedPerSecond }] : []),
  ];
}
