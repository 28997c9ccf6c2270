import type { AskedFigures, DataMode, Run } from '../record.ts';
import { sizeText } from '../sizes.ts';
import { medianText, type Section, spreadText } from './section.ts';
import type { Spread } from './statistics.ts';
import { type Cell, cellsOf, dataOf, shareOfDirect } from './summary.ts';
import { bytesPerSecond, count, microseconds, times } from './units.ts';

function hasData({ visits }: Cell): boolean {
  return visits.some(({ data }) => data !== undefined);
}

/** Through the Service; of a node without a proxy, to the pod. */
function through(
  cell: Cell,
  mode: DataMode,
  of: (asked: AskedFigures) => number | undefined,
): Spread | undefined {
  return (
    dataOf(cell, mode, ({ service }) => service && of(service)) ??
    dataOf(cell, mode, ({ direct }) => of(direct))
  );
}

export function connectionsSection(run: Run): Section {
  return {
    name: 'connections',
    title:
      'New TCP connections through the Service, and of what goes directly to the pod in the same moments',
    head: [
      'cluster',
      'proxy',
      'connections a second',
      'of direct',
      'CPU each',
      'direct',
      'first packet p50',
      'p99',
      'direct p50',
      'p99',
    ],
    rows: cellsOf(run)
      .filter(hasData)
      .map((cell) => [
        sizeText(cell.size),
        cell.proxy,
        spreadText(
          through(cell, 'connect', (asked) => asked.perSecond),
          count,
        ),
        medianText(shareOfDirect(cell, 'connect'), times),
        medianText(
          through(cell, 'connect', (asked) => asked.cpuMicroseconds),
          microseconds,
        ),
        medianText(
          dataOf(cell, 'connect', ({ direct }) => direct.cpuMicroseconds),
          microseconds,
        ),
        medianText(
          through(cell, 'first', (asked) => asked.p50Us),
          microseconds,
        ),
        medianText(
          through(cell, 'first', (asked) => asked.p99Us),
          microseconds,
        ),
        medianText(
          dataOf(cell, 'first', ({ direct }) => direct.p50Us),
          microseconds,
        ),
        medianText(
          dataOf(cell, 'first', ({ direct }) => direct.p99Us),
          microseconds,
        ),
      ]),
  };
}

export function trafficSection(run: Run): Section {
  const columns = (cell: Cell, mode: DataMode, unit: (value: number) => string): string[] => [
    spreadText(
      through(cell, mode, (asked) => asked.perSecond),
      unit,
    ),
    medianText(shareOfDirect(cell, mode), times),
  ];
  return {
    name: 'traffic',
    title: 'On connections that stand, through the Service, a second',
    head: [
      'cluster',
      'proxy',
      'requests',
      'of direct',
      'throughput',
      'of direct',
      'UDP datagrams',
      'of direct',
    ],
    rows: cellsOf(run)
      .filter(hasData)
      .map((cell) => [
        sizeText(cell.size),
        cell.proxy,
        ...columns(cell, 'request', count),
        ...columns(cell, 'throughput', bytesPerSecond),
        ...columns(cell, 'datagram', count),
      ]),
  };
}
