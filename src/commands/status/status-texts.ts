import { styleText } from 'node:util';

type Colour = 'green' | 'red' | 'yellow' | 'bold' | 'dim';

export const colour = (name: Colour, text: string): string =>
  styleText(name, text, { stream: process.stdout });

export function heads(...names: readonly string[]): string[] {
  return names.map((name) => colour('bold', name));
}

/** `1 Service`, `2,500 Services`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

/** `0.4 ms`, `12 ms`, `1.5 s`. */
export function msText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** `3 s`, `12 min`, `5 h`, `2 d`. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800
    ? `${Math.round(seconds / 3600)} h`
    : `${Math.round(seconds / 86_400)} d`;
}

/** `0 B`, `1.2 kB`, `48 MB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  const digits = power > 0 && value < 10 ? 1 : 0;
  return `${value.toFixed(digits)} ${UNITS[power]}`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;
