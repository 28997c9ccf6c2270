/** The zero time of Go. */
const NEVER = '0001-01-01T00:00:00Z';

/**
 * A time in the JSON of Go: RFC 3339 in UTC, the fraction without trailing zeros. 0 is never, as
 * clients of kube-proxy expect.
 */
export function goTime(ms: number): string {
  if (ms === 0) return NEVER;
  const [seconds, fraction] = new Date(ms).toISOString().slice(0, -1).split('.', 2);
  const digits = (fraction ?? '').replace(/0+$/, '');
  return digits === '' ? `${seconds}Z` : `${seconds}.${digits}Z`;
}

/** The times of Events have six digits, always. */
export function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
