import type { Level } from '../../doctor/basic-finding.ts';
import { wrapped } from '../terminal/fit.ts';
import { visible } from '../terminal/visible.ts';

const INDENT = '  ';
const LABEL_WIDTH = 6;

/** What a finding is called. */
export const HEADS: Readonly<Record<Level, string>> = {
  problem: 'problem',
  note: 'note',
  unasked: 'not checked',
  ok: 'ok',
};

/** What was found, and below it why it matters and what to do, where that is known. */
export function findingLines(
  {
    whats,
    why,
    next,
  }: { whats: readonly string[]; why: string | undefined; next: string | undefined },
  { width, dim = (text) => text }: { width: number; dim?: (text: string) => string },
): readonly string[] {
  const room = width - INDENT.length;
  const labelled = (label: string, text: string): readonly string[] =>
    wrapped(visible(text), room - LABEL_WIDTH).map(
      (line, index) => INDENT + dim((index === 0 ? label : '').padEnd(LABEL_WIDTH)) + line,
    );
  return [
    ...whats.flatMap((what) => wrapped(visible(what), room).map((line) => INDENT + line)),
    ...(why ? labelled('why', why) : []),
    ...(next ? labelled('next', next) : []),
  ];
}
