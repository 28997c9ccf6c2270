import { NO_PROXY } from '../left-to-do.ts';
import type { DataFigures, Run } from '../record.ts';
import { endpointsIn, sizeText } from '../sizes.ts';
import { type BarPlot, barPlot } from './plot/bars.ts';
import { type LinePlot, linePlot } from './plot/lines.ts';
import { type Cell, cellsOf, changesOf, coldMs, dataOf, restingBytes } from './summary.ts';
import { count, microseconds, milliseconds } from './units.ts';

const MEGABYTE = 1024 ** 2;

/** Files for the document, by name. */
export function plotsOf(run: Run): Map<string, string> {
  const plots = new Map<string, string>();
  const add = (name: string, svg: string | undefined): void => {
    if (svg !== undefined) plots.set(`${name}.svg`, svg);
  };
  add(
    'change',
    bySize(run, (cell) => changesOf(cell)?.p50Ms, {
      title: 'One changed endpoint: API write to first packet, p50',
      yLabel: 'logarithmic axes',
      yText: milliseconds,
    }),
  );
  add(
    'cold',
    bySize(run, (cell) => coldMs(cell)?.median, {
      title: 'Cold start: process start to every Service in force',
      yLabel: 'logarithmic axes',
      yText: milliseconds,
    }),
  );
  add(
    'memory',
    bySize(run, restingMegabytes, {
      title: 'Memory after the start',
      yLabel: 'resident, of the proxy itself; logarithmic axes',
      yText: (value) => `${value} MB`,
    }),
  );
  add(
    'data',
    dataPlot(run, ({ beside }) => beside.perSecond, {
      title: 'New TCP connections a second through the Service, on one CPU',
      yLabel: `connections a second, by cluster; ${NO_PROXY}: directly to the pod`,
      yText: count,
    }),
  );
  add(
    'data-cpu',
    dataPlot(run, ({ beside }) => beside.cpuMicroseconds, {
      title: 'CPU time of one new TCP connection through the Service',
      yLabel: `of client, server and kernel, by cluster; ${NO_PROXY}: directly to the pod`,
      yText: microseconds,
    }),
  );
  return plots;
}

function restingMegabytes(cell: Cell): number | undefined {
  const spread = restingBytes(cell);
  return spread && spread.median / MEGABYTE;
}

function bySize(
  run: Run,
  of: (cell: Cell) => number | undefined,
  look: Pick<LinePlot, 'title' | 'yLabel' | 'yText'>,
): string | undefined {
  const cells = cellsOf(run).filter(({ size }) => size.services > 0);
  const series = [...new Set(cells.map(({ proxy }) => proxy))]
    .map((name) => ({
      name,
      points: cells
        .filter(({ proxy }) => proxy === name)
        .flatMap((cell) => {
          const y = of(cell);
          return y === undefined || !Number.isFinite(y) ? [] : [{ x: endpointsIn(cell.size), y }];
        }),
    }))
    .filter(({ points }) => points.length > 0);
  if (series.length === 0) return undefined;
  const ticks = new Map(cells.map(({ size }) => [endpointsIn(size), sizeText(size)]));
  return linePlot({
    ...look,
    series,
    xLabel: 'Services x endpoints of each; the axis counts endpoints',
    xTicks: [...ticks].map(([x, text]) => ({ x, text })),
  });
}

function dataPlot(
  run: Run,
  of: (asked: DataFigures) => number,
  look: Pick<BarPlot, 'title' | 'yLabel' | 'yText'>,
): string | undefined {
  const cells = cellsOf(run).flatMap((cell) => {
    const value = dataOf(cell, 'connect', of);
    return value === undefined ? [] : [{ ...cell, value: value.median }];
  });
  if (cells.length === 0) return undefined;
  const names = [...new Set(cells.map(({ size }) => sizeText(size)))];
  return barPlot({
    ...look,
    groups: names.map((name) => ({
      name,
      bars: cells
        .filter(({ size }) => sizeText(size) === name)
        .map(({ proxy, value }) => ({ series: proxy, value })),
    })),
  });
}
