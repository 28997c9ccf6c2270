import { fixed, milliseconds } from '../../../bench/report/units.ts';
import { formatTable } from '../../../lab/host/table.ts';

/** A figure and what it may be at most. */
export interface Limit {
  readonly what: string;
  readonly figure: number;
  readonly atMost: number;
  readonly unit: 'ms' | 'times';
}

/** What one measurement has to say: a table, the limits it is held to, and the figures for programs. */
export interface Section {
  /** The mark in the document that the table goes between. */
  readonly name: string;
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly limits: readonly Limit[];
  readonly figures: unknown;
}

export function isKept({ figure, atMost }: Limit): boolean {
  return figure <= atMost;
}

export function sectionText(section: Section): string {
  const tables = [section.title, formatTable([section.head.map(upper), ...section.rows])];
  if (section.limits.length > 0) {
    tables.push(formatTable([LIMIT_HEAD.map(upper), ...section.limits.map(limitRow)]));
  }
  return `${tables.join('\n\n')}\n`;
}

export function sectionMarkdown(section: Section): string {
  const parts = [markdownTable(section.head, section.rows)];
  if (section.limits.length > 0) {
    parts.push(markdownTable(LIMIT_HEAD, section.limits.map(limitRow)));
  }
  return parts.join('\n\n');
}

const LIMIT_HEAD = ['limit', 'at most', 'figure', 'kept'];

function limitRow(limit: Limit): string[] {
  const text = (value: number): string =>
    limit.unit === 'ms' ? `${milliseconds(value)}` : `${fixed(value)} x`;
  return [limit.what, text(limit.atMost), text(limit.figure), isKept(limit) ? 'yes' : 'NO'];
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

export function microseconds(ms: number): string {
  return `${(ms * 1_000).toFixed(0)} µs`;
}

function upper(text: string): string {
  return text.toUpperCase();
}
