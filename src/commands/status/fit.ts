import { stripVTControlCharacters } from 'node:util';
import { visibleButStyles } from '../terminal/visible.ts';

const GAP = 2;
const NARROWEST = 20;

/** Lines of at most `width`, broken between words if possible. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (line.length > width) {
      lines.push(line.slice(0, width));
      line = line.slice(width);
    }
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}

/**
 * Aligned columns whose last one is wrapped, so that no line is longer than `width`; `style` is for
 * the last cell of each row but the head.
 */
export function fitTable(
  given: readonly (readonly string[])[],
  { width, style = (text) => text }: { width: number; style?: (text: string) => string },
): string {
  const rows = given.map((row) => row.map(visibleButStyles));
  const lastColumn = Math.max(...rows.map((row) => row.length)) - 1;
  const widths = Array.from({ length: lastColumn }, (_, column) =>
    Math.max(...rows.map((row) => visibleLength(row[column] ?? ''))),
  );
  const indent = widths.reduce((sum, each) => sum + each + GAP, 0);
  const room = Math.max(NARROWEST, width - indent);
  const pad = (cell: string, column: number): string =>
    cell + ' '.repeat((widths[column] ?? 0) - visibleLength(cell) + GAP);
  const lines = rows.flatMap((row, index) => {
    const before = row.slice(0, lastColumn).map(pad).join('');
    const last = row[lastColumn] ?? '';
    const cells = index === 0 ? [last] : wrapText(last, room).map(style);
    return cells.map((cell, at) => (at === 0 ? before : ' '.repeat(indent)) + cell);
  });
  return lines.map((line) => line.trimEnd()).join('\n');
}

function visibleLength(text: string): number {
  return stripVTControlCharacters(text).length;
}
