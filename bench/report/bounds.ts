import { formatTable } from '../../lab/host/table.ts';
import { spreadText } from './section.ts';
import type { Spread } from './statistics.ts';
import { bytes, count, megabytes, milliseconds, share, times } from './units.ts';

const TEXTS = { ms: milliseconds, times, share, megabytes, kilobytes: bytes } as const;

/** A figure and what it may be. NaN: it was not measured. */
export interface Bound {
  readonly what: string;
  readonly figure: number;
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly unit: keyof typeof TEXTS;
  /** How sure the figure is, where that is known. */
  readonly spread?: Spread | undefined;
}

export function isKept({ figure, atMost, atLeast }: Bound): boolean {
  return figure <= (atMost ?? Number.POSITIVE_INFINITY) && figure >= (atLeast ?? 0);
}

export const BOUND_HEAD = ['what', 'bound', 'figure', 'kept'];

export function boundRow(bound: Bound): string[] {
  const text = TEXTS[bound.unit];
  const { what, figure, atMost, atLeast, spread } = bound;
  const limit = atMost === undefined ? `at least ${text(atLeast ?? 0)}` : `at most ${text(atMost)}`;
  if (Number.isNaN(figure)) return [what, limit, 'not measured', '-'];
  return [
    what,
    limit,
    spread ? spreadText(spread, text) : text(figure),
    isKept(bound) ? 'yes' : 'NO',
  ];
}

export function boundsTable(bounds: readonly Bound[]): string {
  const measured = bounds.filter(({ figure }) => !Number.isNaN(figure));
  const left = bounds.length - measured.length;
  if (measured.length === 0) return '(this run measured none of them)';
  const rows = [BOUND_HEAD.map((cell) => cell.toUpperCase()), ...measured.map(boundRow)];
  const more = left === 0 ? '' : `\n(${count(left)} more that this run did not measure)`;
  return `${formatTable(rows)}${more}`;
}
