import { stripVTControlCharacters } from 'node:util';

/** Aligned columns for a person; the first row is the head. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, visibleLength(cell));
    });
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - visibleLength(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function visibleLength(text: string): number {
  return stripVTControlCharacters(text).length;
}
