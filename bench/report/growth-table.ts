import type { Run } from '../record.ts';
import { endpointsIn, sizeText } from '../sizes.ts';
import type { Section } from './section.ts';
import { exponentOf } from './statistics.ts';
import {
  type Cell,
  cellsOf,
  changesOf,
  coldMs,
  coldOf,
  receiptOf,
  restingBytes,
} from './summary.ts';
import { fixed } from './units.ts';

const MEASURES: readonly {
  readonly name: string;
  readonly of: (cell: Cell) => number | undefined;
}[] = [
  { name: 'change p50', of: (cell) => changesOf(cell)?.p50Ms },
  { name: 'CPU per change', of: (cell) => changesOf(cell)?.cpuMsPerChange },
  { name: 'receipt to acknowledgement p50', of: (cell) => receiptOf(cell)?.p50Ms },
  { name: 'cold start', of: (cell) => coldMs(cell)?.median },
  { name: 'CPU of the start', of: (cell) => coldOf(cell, (cold) => cold.cpuSeconds)?.median },
  { name: 'memory', of: (cell) => restingBytes(cell)?.median },
];

/** With which power of the number of endpoints each cost grows: 0 is flat, 1 is in proportion. */
export function growthSection(run: Run): Section {
  const cells = cellsOf(run).filter(({ size }) => size.services > 0);
  const proxies = [...new Set(cells.map(({ proxy }) => proxy))];
  return {
    name: 'growth',
    title:
      'Growth: the power of the number of endpoints with which each grows (0: flat, 1: in proportion)',
    head: ['proxy', 'from', 'to', ...MEASURES.map(({ name }) => name)],
    rows: proxies.flatMap((proxy) => {
      const own = cells.filter((cell) => cell.proxy === proxy && coldMs(cell) !== undefined);
      const [first, last] = [own[0], own.at(-1)];
      const exponents = MEASURES.map(({ of }) => exponentText(own, of));
      if (!first || !last || exponents.every((text) => text === '')) return [];
      return [[proxy, sizeText(first.size), sizeText(last.size), ...exponents]];
    }),
  };
}

function exponentText(cells: readonly Cell[], of: (cell: Cell) => number | undefined): string {
  const points = cells.flatMap((cell) => {
    const y = of(cell);
    return y === undefined || !(y > 0) ? [] : [{ x: endpointsIn(cell.size), y }];
  });
  const exponent = exponentOf(points);
  return exponent === undefined ? '' : fixedSigned(exponent);
}

function fixedSigned(value: number): string {
  return Math.abs(value) < 0.005 ? '0.00' : value < 0 ? `-${fixed(-value)}` : value.toFixed(2);
}
