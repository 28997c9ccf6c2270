import type { Bound } from '../report/bounds.ts';
import { type Section, spreadText } from '../report/section.ts';
import { type Spread, spreadOf, sureOf } from '../report/statistics.ts';
import { bytes, count, fixed } from '../report/units.ts';
import { isSameSize, sizeText } from '../sizes.ts';
import {
  type ForwardingRun,
  type ForwardingVisit,
  LOAD_KINDS,
  type LoadFigures,
  type LoadKind,
} from './record.ts';
import { EVERY_GROUP, wayText } from './ways.ts';

const UNITS: Readonly<Record<LoadKind, string>> = {
  connect: 'new connection',
  request: 'request',
  transfer: 'MB',
};
const OURS = ['fairlead-userspace', 'fairlead-userspace-own-address'];
const PEERS = ['haproxy', 'haproxy-128k'];
const MOST_UNREAD_BYTES = 1024 ** 2;

/** All rounds of one way in one size. */
interface Cell {
  readonly size: ForwardingVisit['size'];
  readonly way: string;
  readonly visits: readonly ForwardingVisit[];
}

function cellsOf({ visits }: ForwardingRun): Cell[] {
  const cells: (Cell & { visits: ForwardingVisit[] })[] = [];
  for (const visit of visits) {
    const known = cells.find(({ size, way }) => way === visit.way && isSameSize(size, visit.size));
    if (known) known.visits.push(visit);
    else cells.push({ size: visit.size, way: visit.way, visits: [visit] });
  }
  return cells;
}

export function forwardingSection(run: ForwardingRun): Section {
  return {
    name: 'forwarding',
    title: 'CPU time in µs: of the process that forwards, and of all that take part',
    head: [
      'cluster',
      'way',
      ...LOAD_KINDS.flatMap((kind) => [
        `${UNITS[kind]}: process`,
        'all',
        kind === 'transfer' ? 'MB/s' : 'per second',
      ]),
      'new connection, first second',
      'failed',
    ],
    rows: cellsOf(run).map((cell) => [sizeText(cell.size), cell.way, ...costColumns(cell)]),
  };
}

function costColumns({ visits }: Cell): string[] {
  const ended = visits.find((visit) => visit.ended !== undefined)?.ended;
  const slices = visits.flatMap(({ warm }) => LOAD_KINDS.flatMap((kind) => warm?.[kind] ?? []));
  if (ended !== undefined && slices.length === 0) return [ended];
  const colds = visits.flatMap(({ cold }) => cold ?? []);
  const failed = [...slices, ...colds].reduce((sum, figures) => sum + figures.failed, 0);
  const stalled = slices.filter((figures) => !hasCost(figures)).length;
  return [
    ...LOAD_KINDS.flatMap((kind) => {
      const figures = visits.flatMap(({ warm }) => warm?.[kind] ?? []);
      return [
        microsecondsText(figures, ({ processUs }) => processUs),
        microsecondsText(figures, allUs),
        count(spreadOf(figures.map(({ perSecond }) => perSecond))?.median ?? Number.NaN),
      ];
    }),
    microsecondsText(colds, ({ processUs }) => processUs),
    [
      count(failed),
      ...(stalled === 0 ? [] : [`and nothing in ${stalled} slices`]),
      ...(ended === undefined ? [] : [`a round ${ended}`]),
    ].join(', '),
  ];
}

function microsecondsText(
  figures: readonly LoadFigures[],
  of: (figures: LoadFigures) => number,
): string {
  const values = figures.filter(hasCost).map(of);
  if (values.every((value) => value === 0)) return '';
  return spreadText(sureOf(values), fixed);
}

/** False: nothing was forwarded in that time, as records of earlier runs may say. */
function hasCost({ perSecond }: LoadFigures): boolean {
  return perSecond > 0;
}

function allUs({ processUs, clientUs, serverUs, othersUs }: LoadFigures): number {
  return processUs + clientUs + serverUs + othersUs;
}

export function memorySection(run: ForwardingRun): Section {
  const rows = cellsOf(run).flatMap(({ size, way, visits }) => {
    const held = visits.flatMap((visit) => visit.held ?? []);
    const unread = visits.flatMap((visit) => visit.unread ?? []);
    const [first] = held;
    if (first === undefined) return [];
    const text = (values: readonly (number | undefined)[]): string =>
      spreadText(spreadOf(values.filter((value) => value !== undefined)), bytes);
    return [
      [
        sizeText(size),
        way,
        count(first.connections),
        text(held.map(({ processBytes }) => processBytes)),
        text(held.map(({ kernelBytes }) => kernelBytes)),
        text(unread.map(({ takenBytes }) => takenBytes)),
        text(unread.map(({ processBytes }) => processBytes)),
        text(unread.map(({ queueBytes }) => queueBytes)),
      ],
    ];
  });
  return {
    name: 'forwarding-memory',
    title: 'Memory of a connection that is held open, and of one whose endpoint never reads',
    head: [
      'cluster',
      'way',
      'connections held',
      'process, each',
      'kernel, each',
      'not read: sent by the client',
      'process, each',
      'in socket queues, each',
    ],
    rows,
  };
}

/** Of slices that ran right after each other, so that a slower moment counts for both. */
export function forwardingGoals(run: ForwardingRun): Bound[] {
  const cells = cellsOf(run);
  return cells.flatMap((cell) => {
    const way = EVERY_GROUP.flatMap(({ ways }) => ways).find((each) => wayText(each) === cell.way);
    if (way === undefined || !OURS.includes(way.name)) return [];
    const peers = PEERS.map((name) => wayText({ name, threads: way.threads }));
    const found = cells.filter(
      ({ way: name, size }) => peers.includes(name) && isSameSize(size, cell.size),
    );
    return [...found.flatMap((peer) => ratios(cell, peer)), ...unreadGoal(cell)];
  });
}

function ratios(ours: Cell, peer: Cell): Bound[] {
  return LOAD_KINDS.map((kind) => {
    const spread = ratioOf(ours, peer, kind);
    return {
      what: `${sizeText(ours.size)}, ${ours.way}: CPU per ${UNITS[kind]}, relative to ${peer.way}`,
      figure: spread?.median ?? Number.NaN,
      atMost: 1,
      unit: 'times',
      spread,
    };
  });
}

function ratioOf(ours: Cell, peer: Cell, kind: LoadKind): Spread | undefined {
  return sureOf(
    ours.visits.flatMap(({ round, warm }) => {
      const other = peer.visits.find((visit) => visit.round === round)?.warm?.[kind];
      return (warm?.[kind] ?? []).flatMap(({ processUs }, index) => {
        const beside = other?.[index];
        return beside === undefined ? [] : [processUs / beside.processUs];
      });
    }),
  );
}

function unreadGoal(cell: Cell): Bound[] {
  const spread = spreadOf(
    cell.visits.flatMap(({ unread }) => (unread ? [unread.processBytes + unread.queueBytes] : [])),
  );
  if (spread === undefined) return [];
  return [
    {
      what: `${sizeText(cell.size)}, ${cell.way}: memory of a connection whose endpoint never reads`,
      figure: spread.median,
      atMost: MOST_UNREAD_BYTES,
      unit: 'kilobytes',
      spread,
    },
  ];
}
