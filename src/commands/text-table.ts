import { stripVTControlCharacters } from 'node:util';
import { columnWidths, fittedWidths, wrapped } from './terminal/fit.ts';
import { visibleButStyles } from './terminal/visible.ts';

const GAP = '  ';
/** Least width of a column. */
const LEAST_WIDTH = 6;
/** The last column stays readable, also where the lines become too long. */
const LEAST_LAST_WIDTH = 20;

/**
 * Aligned columns for people, by the visible width of each cell; the first row is the head. A cell
 * is one line: a line break within it would add a row. On a terminal that is too narrow, long cells
 * continue below in their column; in output for programs each row is one line.
 */
export function formatTextTable(
  given: readonly (readonly string[])[],
  screenWidth: number | undefined = terminalWidth(process.stdout),
): string {
  const rows = given.map((row) => row.map(visibleButStyles));
  const widths = widthsFor(rows, screenWidth);
  return rows.flatMap((row) => linesOf(row, widths)).join('\n');
}

/** Wraps the last column only; `style` applies to its cells below the heading. */
export function formatWrappedTable(
  given: readonly (readonly string[])[],
  { width, style = (text) => text }: { width: number; style?: (text: string) => string },
): string {
  const lastColumn = Math.max(...given.map((row) => row.length)) - 1;
  const rows = given.map((row, index) =>
    row.map(visibleButStyles).map((cell, column) => {
      return index > 0 && column === lastColumn ? style(cell) : cell;
    }),
  );
  const widths = naturalWidths(rows);
  const before = widths.slice(0, lastColumn).reduce((sum, each) => sum + each + GAP.length, 0);
  widths[lastColumn] = Math.max(LEAST_LAST_WIDTH, width - before);
  return rows.flatMap((row) => linesOf(row, widths)).join('\n');
}

/** Undefined: not a terminal, so nothing is wrapped. */
export function terminalWidth(stream: {
  readonly isTTY?: boolean;
  readonly columns?: number;
}): number | undefined {
  return stream.isTTY ? stream.columns : undefined;
}

function widthsFor(
  rows: readonly (readonly string[])[],
  screenWidth: number | undefined,
): readonly number[] {
  const natural = naturalWidths(rows);
  if (screenWidth === undefined) return natural;
  const room = screenWidth - GAP.length * Math.max(0, natural.length - 1);
  const columns = natural.map((_, column) =>
    columnWidths(rows.map((row) => stripVTControlCharacters(row[column] ?? ''))),
  );
  return fittedWidths(columns, { room, leastWidth: LEAST_WIDTH });
}

function naturalWidths(rows: readonly (readonly string[])[]): number[] {
  const natural: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      natural[column] = Math.max(natural[column] ?? 0, visibleLength(cell));
    });
  }
  return natural;
}

function linesOf(row: readonly string[], widths: readonly number[]): string[] {
  const cells = row.map((cell, column) => cellLines(cell, widths[column] ?? 0));
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, index) =>
    cells
      .map((lines, column) => padded(lines[index] ?? '', widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

/** One style for a whole cell is one for each of its lines; any other is lost when it is wrapped. */
function cellLines(cell: string, width: number): readonly string[] {
  if (visibleLength(cell) <= width) return [cell];
  const [, start = '', inner, end = ''] = STYLED.exec(cell) ?? [];
  const plain = inner ?? stripVTControlCharacters(cell);
  return wrapped(plain, width).map((line) => `${start}${line}${end}`);
}

const ESCAPE = '\x1b';
const STYLE = `(?:${ESCAPE}\\[\\d+m)`;
const STYLED = new RegExp(`^(${STYLE}+)([^${ESCAPE}]*)(${STYLE}+)$`);

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - visibleLength(text)));
}

function visibleLength(text: string): number {
  return stripVTControlCharacters(text).length;
}
