import type { ChapterText } from './chapter.ts';
import { type Entry, promptOf } from './story.ts';
import { titleOf } from './texts.ts';

export interface PlayedChapter {
  readonly chapter: Pick<ChapterText, 'name' | 'title' | 'learn' | 'repeats'>;
  readonly entries: readonly Entry[];
  /** `Linux 6.18.44`. */
  readonly kernel: string;
}

/** The page of docs/learn, from what really happened. */
export function markdownPage({ chapter, entries, kernel }: PlayedChapter): string {
  const repeats = [...new Set(chapter.repeats.map(titleOf))].join('; ');
  return `${[
    `# ${chapter.title}`,
    `${chapter.learn}`,
    `\`npm run lab -- tour ${chapter.name}\` plays this page on your machine; it was written by that command on ${kernel}. \`machine#\` is a shell on a host of the lab.${repeats === '' ? '' : ` It repeats: ${repeats}.`}`,
    ...entryBlocks(entries),
    '[All chapters](README.md)',
  ].join('\n\n')}\n`;
}

/** Commands that follow each other share a block, facts a list. */
function entryBlocks(entries: readonly Entry[]): string[] {
  const blocks: { readonly kind: Entry['kind']; readonly lines: string[] }[] = [];
  for (const entry of entries) {
    const last = blocks.at(-1);
    const lines = entryLines(entry);
    if (last?.kind === entry.kind && entry.kind !== 'text') last.lines.push(...lines);
    else blocks.push({ kind: entry.kind, lines });
  }
  return blocks.map(({ kind, lines }) =>
    kind === 'command' ? ['```console', ...lines, '```'].join('\n') : lines.join('\n'),
  );
}

/** The first row is the heading. */
export function markdownTable([heading = [], ...rows]: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const titles = heading.map((title) => title.toLowerCase());
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)];
}

function entryLines(entry: Entry): string[] {
  if (entry.kind === 'text') return [entry.text];
  if (entry.kind === 'table') return markdownTable(entry.rows);
  if (entry.kind === 'fact') return [`- ✓ ${entry.text}`];
  const { command } = entry;
  const output = command.output === '' ? [] : command.output.split('\n');
  return [`${promptOf(command)} ${command.typed}`, ...output];
}
