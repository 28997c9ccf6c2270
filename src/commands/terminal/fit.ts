/**
 * Break opportunities, best first: between words, then after parts of a name, last after parts of
 * an address, which then cannot be copied.
 */
const BREAKS: readonly RegExp[] = [/(?<=\s)/, /(?<=[\s/-])/, /(?<=[\s/:,;.=-])/];

export interface ColumnWidths {
  /** Width without breaks. */
  readonly natural: number;
  /** Width with breaks at the best opportunities only, at the next ones too, and so on. */
  readonly least: readonly number[];
}

export function columnWidths(cells: Iterable<string>): ColumnWidths {
  let natural = 0;
  const least = BREAKS.map(() => 0);
  for (const cell of cells) {
    natural = Math.max(natural, cell.length);
    BREAKS.forEach((places, level) => {
      for (const part of cell.split(places)) {
        least[level] = Math.max(least[level] ?? 0, part.trimEnd().length);
      }
    });
  }
  return { natural, least };
}

/**
 * Widths that add up to the room there is. Everything is broken at the best places that suffice; then
 * the widest columns give way first, and all of those to the same width. Narrower than `leastWidth`
 * none becomes, then the table is wider than the room.
 */
export function fittedWidths(
  columns: readonly ColumnWidths[],
  { room, leastWidth }: { readonly room: number; readonly leastWidth: number },
): number[] {
  const floors = floorsFor(columns, { room, leastWidth });
  const under = (cap: number): number[] =>
    columns.map(({ natural }, column) => Math.min(natural, Math.max(cap, floors[column] ?? cap)));
  const total = (widths: readonly number[]): number =>
    widths.reduce((sum, width) => sum + width, 0);
  let cap = Math.max(leastWidth, ...columns.map(({ natural }) => natural));
  while (cap > leastWidth && total(under(cap)) > room) cap -= 1;
  const widths = under(cap);
  // The remaining width goes to the first shrunk columns, which have the names.
  let spare = Math.max(0, room - total(widths));
  return widths.map((width, column) => {
    const more = Math.min(spare, (columns[column]?.natural ?? width) - width);
    spare -= more;
    return width + more;
  });
}

/** The best positions to break at that leave room for all columns. */
function floorsFor(
  columns: readonly ColumnWidths[],
  { room, leastWidth }: { readonly room: number; readonly leastWidth: number },
): readonly number[] {
  for (const level of BREAKS.keys()) {
    const floors = columns.map(({ least }) => Math.max(leastWidth, least[level] ?? 0));
    if (floors.reduce((sum, width) => sum + width, 0) <= room) return floors;
  }
  return columns.map(() => leastWidth);
}

/** Lines of at most so many characters; only spaces at line ends are dropped. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of partsOf(text, { width, level: 0 })) {
    if (line !== '' && (line + part).trimEnd().length > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += part;
  }
  lines.push(line.trimEnd());
  return lines;
}

/** Each fits a line; longer ones break at the next best positions, at last anywhere. */
function partsOf(
  text: string,
  limits: { readonly width: number; readonly level: number },
): string[] {
  const places = BREAKS[limits.level];
  if (text.trimEnd().length <= limits.width) return [text];
  if (places === undefined) return chunks(text, limits.width);
  return text
    .split(places)
    .flatMap((part) => partsOf(part, { ...limits, level: limits.level + 1 }));
}

function chunks(text: string, width: number): string[] {
  const count = Math.ceil(text.length / width);
  return Array.from({ length: count }, (_, index) =>
    text.slice(index * width, (index + 1) * width),
  );
}
