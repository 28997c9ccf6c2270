import { formatTable } from '../../../lab/host/table.ts';
import type { FileBlocks, UncoveredBlock } from './blocks.ts';
import { UNREACHED, type Unreached } from './unreached.ts';

const HEAD = ['FILE', 'BLOCKS', 'COVERED', 'REACHABLE COVERED'];

export function coverageTable(files: readonly FileBlocks[]): string {
  const listed = explained(files).map(
    ({ file, block, entry }) => `- ${file}:${block.line} \`${entry.text}\`: ${entry.reason}`,
  );
  const known = listed.length === 0 ? [] : ['Not reached, and why:', ...listed];
  return [formatTable([HEAD, ...rowsOf(files)]), ...known].join('\n');
}

export function coverageMarkdown(files: readonly FileBlocks[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const head = HEAD.map((title) => title.toLowerCase());
  // Without line numbers, which would be wrong after the next change of the file.
  const listed = explained(files).map(
    ({ file, entry }) => `- ${file} \`${entry.text}\`: ${entry.reason}`,
  );
  return [
    line(head),
    `|${'---|'.repeat(HEAD.length)}`,
    ...rowsOf(files).map(line),
    '',
    'Not reached, and why:',
    '',
    ...listed,
  ].join('\n');
}

/** A line for each block that ran in no cluster although it should, and each needless excuse. */
export function unexplained(files: readonly FileBlocks[]): string[] {
  const unreached = files.flatMap(({ file, uncovered }) =>
    uncovered
      .filter((block) => entryOf(file, block) === undefined)
      .map((block) => `NOT COVERED: ${file}:${block.line} ${block.text}`),
  );
  const used = new Set(explained(files).map(({ entry }) => entry));
  const needless = UNREACHED.filter((entry) => !used.has(entry)).map(
    ({ file, text }) => `covered, so take it off the list: ${file} ${text}`,
  );
  return [...unreached, ...needless];
}

interface Explained {
  readonly file: string;
  readonly block: UncoveredBlock;
  readonly entry: Unreached;
}

function explained(files: readonly FileBlocks[]): Explained[] {
  return files.flatMap(({ file, uncovered }) =>
    uncovered.flatMap((block) => {
      const entry = entryOf(file, block);
      return entry ? [{ file, block, entry }] : [];
    }),
  );
}

function entryOf(file: string, { text, own }: UncoveredBlock): Unreached | undefined {
  return UNREACHED.find(
    (entry) => entry.file === file && text.startsWith(entry.text) && own.startsWith(entry.block),
  );
}

function rowsOf(files: readonly FileBlocks[]): string[][] {
  const rows = files.map(({ file, total, uncovered }) => {
    const missed = uncovered.reduce((sum, { blocks }) => sum + blocks, 0);
    const excused = uncovered
      .filter((block) => entryOf(file, block) !== undefined)
      .reduce((sum, { blocks }) => sum + blocks, 0);
    return { file, total, covered: total - missed, reachable: total - excused };
  });
  const sum = (of: 'total' | 'covered' | 'reachable'): number =>
    rows.reduce((all, row) => all + row[of], 0);
  const all = { file: 'all', total: sum('total'), covered: sum('covered') };
  return [...rows, { ...all, reachable: sum('reachable') }].map((row) => [
    row.file,
    String(row.total),
    `${row.covered} (${percent(row.covered, row.total)})`,
    percent(row.covered, row.reachable),
  ]);
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}
