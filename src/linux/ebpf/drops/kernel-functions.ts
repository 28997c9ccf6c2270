import { readFileSync } from 'node:fs';

const SYMBOLS = '/proc/kallsyms';
/** `ffffffff81000000 T name`, with the module after a tab. */
const LINE = /^([0-9a-f]+) [tTwW] ([^\s]+)/;

/**
 * The functions that these addresses are in. Without CAP_SYSLOG every address in the file is zero,
 * and nothing is found.
 */
export function functionsAt(
  locations: ReadonlySet<bigint>,
  path: string = SYMBOLS,
): ReadonlyMap<bigint, string> {
  const best = new Map<bigint, { readonly at: bigint; readonly name: string }>();
  for (const line of locations.size === 0 ? [] : readFileSync(path, 'latin1').split('\n')) {
    const [, digits = '', name = ''] = LINE.exec(line) ?? [];
    const at = BigInt(`0x${digits === '' ? '0' : digits}`);
    if (at === 0n) continue;
    for (const location of locations) {
      if (at <= location && at > (best.get(location)?.at ?? 0n)) best.set(location, { at, name });
    }
  }
  return new Map([...best].map(([location, { name }]) => [location, name]));
}
