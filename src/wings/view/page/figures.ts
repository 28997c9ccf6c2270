/** Numbers in words and units, alike on every screen. Absent figures are `-`. */
export const ABSENT = '-';

const GROUPED = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const EXACT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });

export function count(value: number | undefined): string {
  return value === undefined ? ABSENT : GROUPED.format(value);
}

/** `2 endpoints`, `1 endpoint`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A rate: exact below 10, in thousands from 10,000 on. */
export function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return ABSENT;
  if (perSecond >= 1e6) return `${(perSecond / 1e6).toFixed(2)} M/s`;
  if (perSecond >= 10_000) return `${(perSecond / 1000).toFixed(1)} k/s`;
  if (perSecond > 0 && perSecond < 10) return `${trimmed(perSecond)}/s`;
  return `${count(perSecond)}/s`;
}

/** The exact figure, for a tooltip. */
export function exactRate(perSecond: number | undefined): string {
  return perSecond === undefined ? ABSENT : `${EXACT.format(perSecond)} a second`;
}

export function percent(part: number | undefined): string {
  if (part === undefined) return ABSENT;
  const value = part * 100;
  return value > 0 && value < 1 ? '<1 %' : `${Math.round(value)} %`;
}

export function milliseconds(ms: number | undefined): string {
  if (ms === undefined) return ABSENT;
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  return ms < 10_000 ? `${count(ms)} ms` : duration(ms / 1000);
}

/** `41 s`, `12 min`, `3 h`, `12 d`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '');
}

/** `14:07:31`, in UTC like `fairlead history`. */
export function timeOfDay(atMs: number): string {
  return isoOf(atMs).slice(11, 19);
}

/** `2026-11-17 14:07:31.204 UTC`. */
export function exactTime(atMs: number): string {
  const iso = isoOf(atMs);
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)} UTC`;
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
