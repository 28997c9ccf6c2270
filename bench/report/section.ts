import { formatTable } from '../../lab/host/table.ts';
import type { Spread } from './statistics.ts';

/** One table of the report, and its place in the document. */
export interface Section {
  /** The mark in the document that the table goes between. */
  readonly name: string;
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function sectionText({ title, head, rows }: Section): string {
  return `${title}\n\n${formatTable([head.map((cell) => cell.toUpperCase()), ...rows])}`;
}

export function sectionMarkdown({ head, rows }: Section): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** A median with the smallest and the largest behind it, if there are several. */
export function spreadText(spread: Spread | undefined, unit: (value: number) => string): string {
  if (spread === undefined) return '';
  if (spread.count === 1) return unit(spread.median);
  return `${unit(spread.median)} (${unit(spread.least)} to ${unit(spread.most)})`;
}

export function medianText(spread: Spread | undefined, unit: (value: number) => string): string {
  return spread === undefined ? '' : unit(spread.median);
}
