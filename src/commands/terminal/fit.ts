/** Where a long word is broken first: after what ends a part of a name, an address or a path. */
const BREAKS = /(?<=[\s/:,;.=-])/;

/**
 * Widths that add up to the room there is: the widest columns give way first, and all of those to the
 * same width. Narrower than `leastWidth` none becomes, then the table is wider than the room.
 */
export function fittedWidths(
  natural: readonly number[],
  { room, leastWidth }: { readonly room: number; readonly leastWidth: number },
): number[] {
  const total = (cap: number): number =>
    natural.reduce((sum, width) => sum + Math.min(width, cap), 0);
  let cap = Math.max(leastWidth, ...natural);
  while (cap > leastWidth && total(cap) > room) cap -= 1;
  const widths = natural.map((width) => Math.min(width, cap));
  // What is left over goes to the first of those that gave way: names stand there.
  let spare = Math.max(0, room - total(cap));
  return widths.map((width, column) => {
    const more = Math.min(spare, (natural[column] ?? width) - width);
    spare -= more;
    return width + more;
  });
}

/** Lines of at most so many characters; nothing but spaces at their ends is lost. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of text.split(BREAKS)) {
    if (line !== '' && (line + part).trimEnd().length > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += part;
    while (line.trimEnd().length > width) {
      lines.push(line.slice(0, width));
      line = line.slice(width);
    }
  }
  lines.push(line.trimEnd());
  return lines;
}
