import { stripVTControlCharacters } from 'node:util';

/** Aligned columns for a person, by what is visible of each cell; the first row is the head. */
export function formatTextTable(rows: readonly (readonly string[])[]): string {
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
