import { quantile } from '../../lab/host/spread.ts';
import type { Bound } from '../report/bounds.ts';
import { medianText, type Section } from '../report/section.ts';
import { type Spread, spreadOf } from '../report/statistics.ts';
import { megabytes, milliseconds, seconds } from '../report/units.ts';
import type { ShapeCold, ShapeRun, ShapeVisit } from './record.ts';
import { SHAPES } from './shapes.ts';

const OURS = 'fairlead-nftables';
const PEER = 'upstream-nftables';
const MOST_SLAB_BYTES = 100 * 1024 ** 2;
const SLAB_GOAL_SHAPE = '150-external-ips';
const MOST_OF_SMALL = 3;
/** Other processes of the machine hold and give back as much: below it two figures are equal. */
const SLAB_NOISE_BYTES = 25 * 1024 ** 2;

/** All visits of one proxy with one shape. */
interface ShapeCell {
  readonly shape: string;
  readonly proxy: string;
  readonly visits: readonly ShapeVisit[];
}

export function shapesSection(run: ShapeRun): Section {
  return {
    name: 'shapes',
    title: 'One large object: cold start, one replaced endpoint, memory and the kernel’s slab',
    head: [
      'shape',
      'proxy',
      'cold start',
      'CPU',
      'memory',
      'slab, peak of the start',
      'slab, afterwards',
      'a change, p50',
      'p99',
      'slab, peak of a change',
      'of a small Service, p50',
      'p99',
    ],
    rows: cellsOf(run).map((cell) => [cell.shape, cell.proxy, ...figuresOf(cell)]),
  };
}

function figuresOf(cell: ShapeCell): string[] {
  const ended = cell.visits.find((visit) => visit.ended !== undefined)?.ended;
  if (coldOf(cell, ({ ms }) => ms) === undefined) return [ended ?? ''];
  return [
    medianText(
      coldOf(cell, ({ ms }) => ms),
      milliseconds,
    ),
    medianText(
      coldOf(cell, ({ cpuSeconds }) => cpuSeconds),
      seconds,
    ),
    medianText(residentOf(cell), megabytes),
    medianText(
      coldOf(cell, ({ slabPeakBytes }) => slabPeakBytes),
      megabytes,
    ),
    medianText(
      coldOf(cell, ({ slabAfterBytes }) => slabAfterBytes),
      megabytes,
    ),
    changeText(cell, 'large', 0.5),
    changeText(cell, 'large', 0.99),
    medianText(
      spread(cell, ({ large }) => large?.slabPeakBytes),
      megabytes,
    ),
    changeText(cell, 'small', 0.5),
    changeText(cell, 'small', 0.99),
  ];
}

/** What Fairlead is meant to reach, in nftables mode, beside kube-proxy of the same run. */
export function shapeGoals(run: ShapeRun): Bound[] {
  return SHAPES.flatMap(({ name }) => {
    const cells = cellsOf(run).filter(({ shape }) => shape === name);
    const ours = cells.find(({ proxy }) => proxy === OURS);
    if (ours === undefined) return [];
    const peer = cells.find(({ proxy }) => proxy === PEER);
    return [...ownGoals(name, ours), ...(peer === undefined ? [] : peerGoals(name, ours, peer))];
  });
}

function ownGoals(name: string, ours: ShapeCell): Bound[] {
  const change: Bound = {
    what: `${name}: one change p50, relative to a small Service`,
    figure: changeOf(ours, 'large', 0.5) / changeOf(ours, 'small', 0.5),
    atMost: MOST_OF_SMALL,
    unit: 'times',
  };
  if (name !== SLAB_GOAL_SHAPE) return [orBroken(change)];
  const peaks = ours.visits.flatMap(({ cold, large }) =>
    [cold?.slabPeakBytes, large?.slabPeakBytes].filter((peak) => peak !== undefined),
  );
  const figure = peaks.length === 0 ? Number.NaN : Math.max(...peaks);
  const slab: Bound = {
    what: `${name}: peak slab`,
    figure,
    atMost: MOST_SLAB_BYTES,
    unit: 'megabytes',
  };
  return [orBroken(change), orBroken(slab)];
}

function peerGoals(name: string, ours: ShapeCell, peer: ShapeCell): Bound[] {
  const figures: readonly [string, (cell: ShapeCell) => number][] = [
    ['cold start', (cell) => middle(coldOf(cell, ({ ms }) => ms))],
    ['one change p50', (cell) => changeOf(cell, 'large', 0.5)],
    ['memory', (cell) => middle(residentOf(cell))],
    ['peak slab of the start', (cell) => Math.max(startSlab(cell), SLAB_NOISE_BYTES)],
  ];
  return figures.map(([what, of]) =>
    orBroken({
      what: `${name}: ${what}, relative to upstream`,
      figure: of(ours) / of(peer),
      atMost: 1,
      unit: 'times',
    }),
  );
}

/** A figure that is missing breaks its goal: a proxy that was ended must not pass. */
function orBroken(bound: Bound): Bound {
  return Number.isNaN(bound.figure) ? { ...bound, figure: Number.POSITIVE_INFINITY } : bound;
}

function cellsOf({ visits }: ShapeRun): ShapeCell[] {
  const cells = new Map<string, ShapeCell & { visits: ShapeVisit[] }>();
  for (const visit of visits) {
    const { shape, proxy } = visit;
    const key = `${shape} ${proxy}`;
    const cell = cells.get(key) ?? { shape, proxy, visits: [] };
    cell.visits.push(visit);
    cells.set(key, cell);
  }
  return [...cells.values()];
}

function spread(
  cell: ShapeCell,
  of: (visit: ShapeVisit) => number | undefined,
): Spread | undefined {
  return spreadOf(cell.visits.map(of).filter((value) => value !== undefined));
}

function coldOf(cell: ShapeCell, of: (cold: ShapeCold) => number): Spread | undefined {
  return spread(cell, ({ cold }) => cold && of(cold));
}

function residentOf(cell: ShapeCell): Spread | undefined {
  return coldOf(cell, ({ memory }) => memory.residentBytes);
}

function startSlab(cell: ShapeCell): number {
  return middle(coldOf(cell, ({ slabPeakBytes }) => slabPeakBytes));
}

function middle(value: Spread | undefined): number {
  return value?.median ?? Number.NaN;
}

function changeOf({ visits }: ShapeCell, which: 'large' | 'small', share: number): number {
  return quantile(
    visits.flatMap((visit) => visit[which]?.sinceSentMs ?? []),
    share,
  );
}

function changeText(cell: ShapeCell, which: 'large' | 'small', share: number): string {
  const value = changeOf(cell, which, share);
  return Number.isNaN(value) ? '' : milliseconds(value);
}
