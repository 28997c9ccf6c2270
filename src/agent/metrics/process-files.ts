/** Parses files of /proc/self for process metrics. */

const KIB = 1024;
/** The Go library shows 2^64-1 where there is no limit. */
const UNLIMITED = 2 ** 64;

/** `text` is status. */
export function virtualMemoryBytes(text: string): number {
  return Number(/^VmSize:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * KIB;
}

/** `text` is limits; `name` begins its line. */
export function softLimit(text: string, name: string): number {
  const line = text.split('\n').find((each) => each.startsWith(name)) ?? '';
  const [soft = ''] = line.slice(name.length).trim().split(/\s+/);
  return soft === '' || soft === 'unlimited' ? UNLIMITED : Number(soft);
}

export interface NetworkBytes {
  readonly received: number;
  readonly sent: number;
}

/** `text` is net/netstat: a line of names, then one of values, for each group. */
export function networkBytes(text: string): NetworkBytes {
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('IpExt:'))
    .map((line) => line.split(' '));
  const at = (name: string): number => Number(values[names.indexOf(name)] ?? 0);
  return { received: at('InOctets'), sent: at('OutOctets') };
}
