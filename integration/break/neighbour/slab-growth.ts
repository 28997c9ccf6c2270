import { readFile } from 'node:fs/promises';
import { megabytes } from '../../../bench/report/units.ts';

const LEAST_BYTES = 5 * 1024 ** 2;
const NAMED = 4;

/** Bytes by the name of the kernel's cache. */
export type Caches = ReadonlyMap<string, number>;

export async function readCaches(): Promise<Caches> {
  return parseCaches(await readFile('/proc/slabinfo', 'utf8'));
}

export function parseCaches(slabinfo: string): Caches {
  const rows = slabinfo.split('\n').map((line) => line.split(/\s+/));
  const caches = rows.flatMap(([name, , total, size]): [string, number][] =>
    name === undefined || !/^\d+$/.test(total ?? '') ? [] : [[name, Number(total) * Number(size)]],
  );
  return new Map(caches);
}

/** The caches that have grown most, to explain what is left. */
export function growthText(before: Caches, after: Caches): string {
  const grown = [...after]
    .map(([name, bytes]) => ({ name, bytes: bytes - (before.get(name) ?? 0) }))
    .filter(({ bytes }) => bytes >= LEAST_BYTES)
    .toSorted((a, b) => b.bytes - a.bytes);
  return grown
    .slice(0, NAMED)
    .map(({ name, bytes }) => `${name} +${megabytes(bytes)}`)
    .join(', ');
}
