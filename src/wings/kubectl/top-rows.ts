import { arrayAt, isRecord, type JsonRecord, textAt } from '../../cluster/json.ts';

/** What one node said of a row of `fairlead top`. */
export interface NodeTick {
  readonly node: string;
  readonly tick: JsonRecord;
}

/** A Service, endpoint or client over all nodes. A figure that no node knows is undefined. */
export interface ClusterRow {
  readonly name: string;
  readonly newPerSecond: number | undefined;
  readonly live: number | undefined;
  readonly rejectedPerSecond: number | undefined;
  readonly droppedPerSecond: number | undefined;
  /** The busiest first, with their parts from 0 to 1. */
  readonly nodes: readonly { readonly node: string; readonly part: number }[];
}

const FIGURES = ['newPerSecond', 'live', 'rejectedPerSecond', 'droppedPerSecond'] as const;
type Figures = Record<(typeof FIGURES)[number], number | undefined>;

interface Sum {
  readonly figures: Figures;
  readonly weights: Map<string, number>;
}

/** Rows of all nodes, summed by name, the busiest first. */
export function clusterRows(ticks: readonly NodeTick[]): ClusterRow[] {
  const sums = new Map<string, Sum>();
  for (const { node, tick } of ticks) {
    for (const row of arrayAt(tick, 'rows').filter(isRecord)) {
      const name = nameOf(row);
      const sum = sums.get(name) ?? { figures: noFigures(), weights: new Map() };
      sums.set(name, sum);
      addTo(sum.figures, row);
      const weight = busynessOf(figuresOf(row));
      sum.weights.set(node, (sum.weights.get(node) ?? 0) + weight);
    }
  }
  return [...sums]
    .map(([name, { figures, weights }]) => ({ name, ...figures, nodes: partsOf(weights) }))
    .sort(
      (a, b) =>
        busynessOf(b) - busynessOf(a) ||
        (b.live ?? 0) - (a.live ?? 0) ||
        (a.name < b.name ? -1 : 1),
    );
}

/** `shop/web:http`, `shop/dns:dns UDP`, `shop/web:http IPv6`, `… → 10.1.2.3:80`, `10.1.2.9 → shop/web:http`. */
function nameOf(row: JsonRecord): string {
  const [service, protocol, family] = ['service', 'protocol', 'family'].map((each) =>
    textAt(row, each),
  );
  const [endpoint, client] = [textAt(row, 'endpoint'), textAt(row, 'client')];
  if (client !== '') return `${client} → ${service}`;
  const kind = [protocol, family].filter((each) => each !== 'TCP' && each !== 'IPv4').join(' ');
  return [service, kind, endpoint === '' ? '' : `→ ${endpoint}`]
    .filter((part) => part !== '')
    .join(' ');
}

/** What the totals of all nodes are. */
export function clusterTotals(ticks: readonly NodeTick[]): Figures {
  const sum = noFigures();
  for (const { tick } of ticks) {
    const { totals } = tick;
    if (isRecord(totals)) addTo(sum, totals);
  }
  return sum;
}

function noFigures(): Figures {
  return {
    newPerSecond: undefined,
    live: undefined,
    rejectedPerSecond: undefined,
    droppedPerSecond: undefined,
  };
}

function figuresOf(row: JsonRecord): Figures {
  const figures = noFigures();
  addTo(figures, row);
  return figures;
}

function addTo(sum: Figures, row: JsonRecord): void {
  for (const name of FIGURES) {
    const value = row[name];
    if (typeof value === 'number') sum[name] = (sum[name] ?? 0) + value;
  }
}

function busynessOf(figures: Omit<Figures, 'live'>): number {
  return (
    (figures.newPerSecond ?? 0) + (figures.rejectedPerSecond ?? 0) + (figures.droppedPerSecond ?? 0)
  );
}

function partsOf(weights: ReadonlyMap<string, number>): ClusterRow['nodes'] {
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return [...weights]
    .map(([node, weight]) => ({ node, part: total === 0 ? 0 : weight / total }))
    .sort((a, b) => b.part - a.part || (a.node < b.node ? -1 : 1));
}
