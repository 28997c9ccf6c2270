/** A range of a source file and how often it ran, as V8 reports it. */
export interface CountedRange {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

export interface FileBlocks {
  readonly file: string;
  /** Functions, sides of conditions, and what follows a return: all that can run or not. */
  readonly total: number;
  readonly uncovered: readonly UncoveredBlock[];
}

export interface UncoveredBlock {
  readonly line: number;
  /** The line it begins in: `continue;` alone would not say which. */
  readonly text: string;
  readonly own: string;
  /** How many of the engine's blocks lie in it, itself included. */
  readonly blocks: number;
}

/**
 * Type stripping puts blanks in place of types, so offsets of the engine are offsets of the file.
 * A block within one that never ran is part of that one: it has no story of its own.
 */
export function blocksOf(
  source: string,
  functions: readonly (readonly CountedRange[])[],
): Omit<FileBlocks, 'file'> {
  const ranges = functions.flat();
  const missed = ranges.filter(({ count }) => count === 0);
  const outermost = missed.filter(
    (range) => !missed.some((other) => other !== range && holds(other, range)),
  );
  const uncovered = outermost
    .map((range) => {
      const line = lineOf(source, range);
      const text = source.split('\n')[line - 1]?.trim() ?? '';
      const own = source.slice(range.startOffset, range.endOffset).trim();
      return { line, text, own, blocks: missed.filter((other) => holds(range, other)).length };
    })
    .sort((a, b) => a.line - b.line);
  return { total: ranges.length, uncovered };
}

function holds(outer: CountedRange, inner: CountedRange): boolean {
  return outer.startOffset <= inner.startOffset && outer.endOffset >= inner.endOffset;
}

/** Line of its first non-blank character: a block after a return begins with a line end. */
function lineOf(source: string, { startOffset }: CountedRange): number {
  const blanks = /^\s*/.exec(source.slice(startOffset))?.[0].length ?? 0;
  return source.slice(0, startOffset + blanks).split('\n').length;
}
