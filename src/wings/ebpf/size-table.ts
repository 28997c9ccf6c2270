import { formatTextTable } from '../../commands/text-table.ts';
import type { MapSize } from './plane/maps/map-sizes.ts';

const HEAD = ['MAP', 'ENTRIES', 'ROOM', 'MEMORY', 'WHILE IT GROWS'];

/** For a person. */
export function sizeTable(maps: readonly MapSize[]): string {
  const rows = maps.map(({ map, entries, room, bytes, whileGrowingBytes }) => [
    map,
    entries === undefined ? '' : String(entries),
    room === 0 ? '' : String(room),
    inMegabytes(bytes),
    whileGrowingBytes === 0 ? '' : inMegabytes(whileGrowingBytes),
  ]);
  const total = maps.reduce((sum, { bytes }) => sum + bytes, 0);
  return formatTextTable([HEAD, ...rows, ['total', '', '', inMegabytes(total)]]);
}

/** Megabytes of a million bytes, as `bpftool` counts. */
function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 10_000 ? 4 : 2)} MB`;
}
