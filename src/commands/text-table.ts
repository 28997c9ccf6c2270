import { stripVTControlCharacters } from 'node:util';
import { visibleButStyles } from './terminal/visible.ts';

/**
 * Aligned columns for a person, by what is visible of each cell; the first row is the head. A cell
 * is one line: a line end within it would make a row that nobody wrote.
 */
export function formatTextTable(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(visibleButStyles));
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, visibleLength(cell));
    });
  }
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - visibleLength(cell)))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

function visibleLength(text: string): number {
  return stripVTControlCharacters(text).length;
}
