import type { AskedFigures, DataMode, Run } from '../record.ts';
import { sizeText } from '../sizes.ts';
import { medianText, type Section, spreadText } from './section.ts';
import { type Cell, cellsOf, dataOf, shareOfDirect } from './summary.ts';
import { bytesPerSecond, count, microseconds, share } from './units.ts';

const MEGABYTE = 1e6;

type Unit = (value: number) => string;

function rowsOf(run: Run, columns: (cell: Cell) => string[]): string[][] {
  return cellsOf(run)
    .filter(({ visits }) => visits.some(({ data }) => data !== undefined))
    .map((cell) => [sizeText(cell.size), cell.proxy, ...columns(cell)]);
}

/** Rate and CPU time of one kind of load through the Service, each with its share of direct. */
function costs(cell: Cell, mode: DataMode, units: { readonly rate: Unit; readonly cpu: Unit }) {
  return [
    spreadText(
      dataOf(cell, mode, ({ beside }) => beside.perSecond),
      units.rate,
    ),
    spreadText(shareOfDirect(cell, mode, 'rateShares'), share),
    spreadText(
      dataOf(cell, mode, ({ beside }) => beside.cpuMicroseconds),
      units.cpu,
    ),
    spreadText(shareOfDirect(cell, mode, 'cpuShares'), share),
  ];
}

const EACH = { rate: count, cpu: microseconds } as const;

export function connectionsSection(run: Run): Section {
  const first = (cell: Cell, side: 'direct' | 'beside', of: 'p50Us' | 'p99Us'): string =>
    medianText(
      dataOf(cell, 'first', (asked) => (asked[side] satisfies AskedFigures)[of]),
      microseconds,
    );
  return {
    name: 'connections',
    title:
      'New TCP connections through the Service on one CPU, and what they are of those that go directly to the pod in the same moments',
    head: [
      'cluster',
      'proxy',
      'connections a second',
      'relative to direct',
      'CPU each',
      'relative to direct',
      'first packet p50',
      'p99',
      'direct p50',
      'p99',
    ],
    rows: rowsOf(run, (cell) => [
      ...costs(cell, 'connect', EACH),
      first(cell, 'beside', 'p50Us'),
      first(cell, 'beside', 'p99Us'),
      first(cell, 'direct', 'p50Us'),
      first(cell, 'direct', 'p99Us'),
    ]),
  };
}

export function requestsSection(run: Run): Section {
  const columns = (what: string): string[] => [
    what,
    'relative to direct',
    'CPU each',
    'relative to direct',
  ];
  return {
    name: 'requests',
    title: 'Requests on established connections, and datagrams, through the Service on one CPU',
    head: ['cluster', 'proxy', ...columns('requests a second'), ...columns('datagrams a second')],
    rows: rowsOf(run, (cell) => [
      ...costs(cell, 'request', EACH),
      ...costs(cell, 'datagram', EACH),
    ]),
  };
}

export function trafficSection(run: Run): Section {
  const ofMegabyte = (perByte: number): string => microseconds(perByte * MEGABYTE);
  return {
    name: 'traffic',
    title: 'Bytes on established connections through the Service on one CPU',
    head: [
      'cluster',
      'proxy',
      'throughput',
      'relative to direct',
      'CPU per megabyte',
      'relative to direct',
    ],
    rows: rowsOf(run, (cell) =>
      costs(cell, 'throughput', { rate: bytesPerSecond, cpu: ofMegabyte }),
    ),
  };
}
