/** Parses files of /proc for process metrics. */

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

/** USER_HZ, which is 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Field 22 of stat; the name of the process, which comes before, may have spaces and brackets. */
const START_AFTER_NAME = 19;

/**
 * Seconds since 1970. `stat` is that of the process, `kernelStat` is /proc/stat. Computed from the wall
 * clock and the age of the process it would differ by some microseconds at each scrape, and Prometheus'
 * changes() would count restarts.
 */
export function startSeconds(stat: string, kernelStat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const bootSeconds = Number(/^btime (\d+)$/m.exec(kernelStat)?.[1] ?? 0);
  return bootSeconds + Number(fields[START_AFTER_NAME] ?? 0) / TICKS_PER_SECOND;
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
