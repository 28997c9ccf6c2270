/** With as many digits as say something. */
export function milliseconds(ms: number): string {
  if (!Number.isFinite(ms)) return 'never';
  if (ms >= 1_000) return `${fixed(ms / 1_000)} s`;
  if (ms === 0) return '0';
  if (ms < 1) return `${fixed(ms * 1_000)} µs`;
  return `${fixed(ms)} ms`;
}

export function microseconds(us: number): string {
  return milliseconds(us / 1_000);
}

export function seconds(value: number): string {
  return `${fixed(value)} s`;
}

export function bytes(value: number): string {
  if (value >= 1024 ** 2) return `${fixed(value / 1024 ** 2)} MB`;
  return `${fixed(value / 1024)} KB`;
}

export function bytesPerSecond(value: number): string {
  return `${count(value / 1e6)} MB/s`;
}

/** Memory, in which halves of a megabyte say nothing. */
export function megabytes(value: number): string {
  return `${Math.round(value / 1024 ** 2)} MB`;
}

export function times(value: number): string {
  return value < 0.1 ? `1/${Math.round(1 / value)}` : `${fixed(value)} x`;
}

/** A ratio near one, with thousandths. */
export function share(value: number): string {
  return value.toFixed(3);
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

export function fixed(value: number): string {
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 0.1 || value === 0 ? value.toFixed(2) : value.toPrecision(2);
}
