/**
 * Durations as Go writes and reads them (`1h0m0s`, `500ms`, `-1.5h`), because that is what
 * Kubernetes puts into configuration files. Inside Fairlead they are milliseconds.
 */
const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const PART = /(?=\.?\d)(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;

/** Go keeps a duration in 64 bits with a sign. */
const TOO_LONG = 2n ** 63n;

export function parseDurationMs(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const parts = text.replace(/^[+-]/, '');
  // The only number without a unit that Go takes.
  if (parts === '0') return 0;
  if (parts === '') return undefined;

  const reader = new RegExp(PART);
  let nanoseconds = 0n;
  let end = 0;
  while (end < parts.length) {
    reader.lastIndex = end;
    const [whole, digits = '', fraction = '', unit = ''] = reader.exec(parts) ?? [];
    const size = NANOSECONDS[unit];
    if (whole === undefined || size === undefined) return undefined;
    nanoseconds += BigInt(digits) * size;
    nanoseconds += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
    end += whole.length;
  }
  if (nanoseconds >= TOO_LONG) return undefined;
  const ms = Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6;
  return ms === 0 ? 0 : sign * ms;
}

/** The same text that Go prints, so that a file written by Fairlead reads like one by kube-proxy. */
export function formatDuration(ms: number): string {
  const sign = ms < 0 ? '-' : '';
  const wholeMs = BigInt(Math.trunc(Math.abs(ms)));
  const nanoseconds = wholeMs * 1_000_000n + BigInt(Math.round((Math.abs(ms) % 1) * 1e6));
  if (nanoseconds === 0n) return '0s';
  if (nanoseconds < 1_000n) return `${sign}${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${sign}${Number(nanoseconds) / 1e3}µs`;
  if (nanoseconds < 1_000_000_000n) return `${sign}${Number(nanoseconds) / 1e6}ms`;
  const wholeSeconds = nanoseconds / 1_000_000_000n;
  const hours = wholeSeconds / 3600n;
  const minutes = (wholeSeconds / 60n) % 60n;
  const fraction = String(nanoseconds % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  const seconds = `${wholeSeconds % 60n}${fraction === '' ? '' : `.${fraction}`}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}
