import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeFiles } from '../tree/code-files.ts';
import { WINGS } from '../wings/table.ts';
import { MOST_SLACK, type Weighed } from './bounds.ts';

export interface Weight {
  readonly files: number;
  readonly lines: number;
}

export interface Scales {
  readonly weighed: Weighed;
  /** By wing, and `core`. */
  readonly byPart: ReadonlyMap<string, Weight>;
}

/** Weighs the checkout as it stands. */
export async function weigh(root: string): Promise<Scales> {
  const byPart = new Map<string, Weight>();
  for (const file of (await codeFiles(join(root, 'src'))).filter(isSource)) {
    const lines = (await readFile(join(root, 'src', file), 'utf8')).split('\n').length - 1;
    const part = partOf(`src/${file}`);
    const { files: before, lines: linesBefore } = byPart.get(part) ?? { files: 0, lines: 0 };
    byPart.set(part, { files: before + 1, lines: linesBefore + lines });
  }
  const all = [...byPart.values()];
  const weighed = {
    coreLines: byPart.get('core')?.lines ?? 0,
    srcLines: all.reduce((sum, { lines }) => sum + lines, 0),
    srcFiles: all.reduce((sum, { files }) => sum + files, 0),
    docWords: await wordsOfDocs(root),
  };
  return { weighed, byPart };
}

/** What is over its bound, or so far below that the bound holds nothing. */
export function complaints(weighed: Weighed, bounds: Weighed): readonly string[] {
  return (Object.keys(bounds) as (keyof Weighed)[]).flatMap((what) => {
    const [now, bound] = [weighed[what], bounds[what]];
    if (now > bound) return [`${what}: ${now}, over its bound of ${bound}: take something away`];
    if (now < bound * (1 - MOST_SLACK)) return [`${what}: ${now}; lower its bound of ${bound}`];
    return [];
  });
}

function partOf(file: string): string {
  const wing = WINGS.find(({ folders }) => folders.some((folder) => file.startsWith(folder)));
  return wing?.name ?? 'core';
}

function isSource(file: string): boolean {
  return file.endsWith('.ts') && !file.endsWith('.test.ts') && !`/${file}`.includes('/testing/');
}

async function wordsOfDocs(root: string): Promise<number> {
  const below = await readdir(join(root, 'docs'), { recursive: true });
  const pages = below.filter((name) => name.endsWith('.md')).map((name) => join('docs', name));
  const texts = await Promise.all(
    ['README.md', ...pages].map((page) => readFile(join(root, page), 'utf8')),
  );
  return texts.reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
}
