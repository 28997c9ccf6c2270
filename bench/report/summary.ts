import { median, quantile } from '../../lab/host/spread.ts';
import type { LoadSize } from '../../lab/load/objects.ts';
import type {
  BareFigures,
  DataFigures,
  DataMode,
  Memory,
  ReceiptFigures,
  Run,
  StageFigures,
  Visit,
} from '../record.ts';
import { endpointsIn, isSameSize } from '../sizes.ts';
import { type Spread, spreadOf, sureOf } from './statistics.ts';

/** All visits of one proxy at one size. */
export interface Cell {
  readonly size: LoadSize;
  readonly proxy: string;
  readonly visits: readonly Visit[];
}

/** By size, then in the order in which the proxies were measured. */
export function cellsOf({ visits }: Run): Cell[] {
  const cells: { size: LoadSize; proxy: string; visits: Visit[] }[] = [];
  for (const visit of visits) {
    const found = cells.find(
      ({ size, proxy }) => proxy === visit.proxy && isSameSize(size, visit.size),
    );
    if (found) found.visits.push(visit);
    else cells.push({ size: visit.size, proxy: visit.proxy, visits: [visit] });
  }
  return cells.toSorted((a, b) => endpointsIn(a.size) - endpointsIn(b.size));
}

export function findCell(
  run: Run,
  of: { readonly services: number; readonly proxy: string },
): Cell | undefined {
  return cellsOf(run).find(
    ({ size, proxy }) => size.services === of.services && proxy === of.proxy,
  );
}

/** Why there are no figures; undefined: there are. */
export function whyEmpty({ visits }: Cell): string | undefined {
  return visits.every(({ ended }) => ended !== undefined) ? visits[0]?.ended : undefined;
}

function spread(cell: Cell, of: (visit: Visit) => number | undefined): Spread | undefined {
  return spreadOf(cell.visits.map(of).filter((value) => value !== undefined));
}

/** Every Service programmed, and the last one answers. */
export function coldMs(cell: Cell): Spread | undefined {
  return spread(cell, ({ cold }) => cold && Math.max(cold.answeredMs, cold.programmedMs));
}

export function coldOf(
  cell: Cell,
  of: (cold: NonNullable<Visit['cold']>) => number,
): Spread | undefined {
  return spread(cell, ({ cold }) => cold && of(cold));
}

/** At rest, after the start. */
export function restingBytes(cell: Cell, of: keyof Memory = 'residentBytes'): Spread | undefined {
  return spread(cell, ({ cold }) => cold?.memory[of]);
}

/** After the last step before the packets. */
export function finalBytes(cell: Cell): Spread | undefined {
  return spread(cell, ({ bulk, rolling, changes, cold }) => {
    const last = bulk ?? rolling ?? changes ?? cold;
    return last?.memory.residentBytes;
  });
}

/** The changes of all rounds together. */
export interface Changes {
  readonly count: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly writtenP50Ms: number;
  /** What the proxy adds: from the API server's answer to the packet. */
  readonly afterWrittenP50Ms: number;
  readonly cpuMsPerChange: number;
  readonly apiBytesPerChange: number;
  /** Medians of the rounds: how far apart they are. */
  readonly rounds: Spread;
}

export function changesOf({ visits }: Cell): Changes | undefined {
  const made = visits.map(({ changes }) => changes).filter((each) => each !== undefined);
  const all = made.flatMap(({ sinceSentMs }) => sinceSentMs);
  const rounds = spreadOf(made.map(({ sinceSentMs }) => median(sinceSentMs)));
  if (rounds === undefined) return undefined;
  const total = (of: (each: (typeof made)[number]) => number): number =>
    made.reduce((sum, each) => sum + of(each), 0);
  return {
    count: all.length,
    p50Ms: quantile(all, 0.5),
    p90Ms: quantile(all, 0.9),
    p99Ms: quantile(all, 0.99),
    writtenP50Ms: median(made.flatMap(({ writtenMs }) => writtenMs)),
    afterWrittenP50Ms: median(
      made.flatMap(({ sinceSentMs, writtenMs }) =>
        sinceSentMs.map((sinceMs, index) => sinceMs - (writtenMs[index] ?? Number.NaN)),
      ),
    ),
    cpuMsPerChange: (total(({ cpuSeconds }) => cpuSeconds) / all.length) * 1_000,
    apiBytesPerChange: total(({ apiBytes }) => apiBytes) / all.length,
    rounds,
  };
}

/** Medians of the stages, which need not add up to the median of the whole. */
export interface Stages extends StageFigures {
  readonly count: number;
  /** From its receipt on. */
  readonly sinceReceivedMs: number;
}

export function stagesOf({ visits }: Cell): Stages | undefined {
  const all = visits.flatMap(({ changes }) => changes?.stages ?? []);
  if (all.length === 0) return undefined;
  const middle = (of: (stages: StageFigures) => number): number => median(all.map(of));
  return {
    count: all.length,
    apiMs: middle(({ apiMs }) => apiMs),
    resolveMs: middle(({ resolveMs }) => resolveMs),
    writeMs: middle(({ writeMs }) => writeMs),
    packetMs: middle(({ packetMs }) => packetMs),
    sinceReceivedMs: middle((each) => each.resolveMs + each.writeMs + each.packetMs),
  };
}

/** The median over the rounds of each quantile: the proxy keeps no single values. */
export function receiptOf({ visits }: Cell): ReceiptFigures | undefined {
  const all = visits.map(({ receipt }) => receipt).filter((each) => each !== undefined);
  if (all.length === 0) return undefined;
  const middle = (of: (each: ReceiptFigures) => number): number => median(all.map(of));
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p90Ms: middle(({ p90Ms }) => p90Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    maxMs: Math.max(...all.map(({ maxMs }) => maxMs)),
  };
}

export function loadOf(
  cell: Cell,
  load: 'rolling' | 'bulk',
  of: (figures: NonNullable<Visit['rolling']>) => number,
): Spread | undefined {
  return spread(cell, (visit) => visit[load] && of(visit[load]));
}

function dataIn({ visits }: Cell, mode: DataMode): DataFigures[] {
  return visits.flatMap(({ data }) => data ?? []).filter((each) => each.mode === mode);
}

/** One kind of load, to the pod or through the Service, over all cycles. */
export function dataOf(
  cell: Cell,
  mode: DataMode,
  of: (asked: DataFigures) => number | undefined,
): Spread | undefined {
  return spreadOf(
    dataIn(cell, mode)
      .map(of)
      .filter((value) => value !== undefined),
  );
}

/** Through the Service, of what goes directly to the pod right before or after it; all pairs together. */
export function shareOfDirect(
  cell: Cell,
  mode: DataMode,
  of: 'rateShares' | 'cpuShares' = 'rateShares',
): Spread | undefined {
  return sureOf(dataIn(cell, mode).flatMap((each) => each[of]));
}

export function bareMs(
  { limits }: Run,
  { size, proxy }: Pick<Cell, 'size' | 'proxy'>,
  by: BareFigures['by'],
): Spread | undefined {
  return spreadOf(
    bareOf({ limits }, { size, proxy }, by)
      .map((each) => each.milliseconds)
      .filter((value) => value !== undefined),
  );
}

export function bareOf(
  { limits }: Pick<Run, 'limits'>,
  { size, proxy }: Pick<Cell, 'size' | 'proxy'>,
  by: BareFigures['by'],
): BareFigures[] {
  return limits.filter(
    (each) => each.by === by && each.proxy === proxy && isSameSize(each.size, size),
  );
}
