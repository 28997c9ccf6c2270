import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { LabError } from '../host/errors.ts';
import { interruption } from '../host/interruption.ts';
import { missingOfKernel } from '../host/kernel-parts.ts';
import { terminalProgress } from '../host/progress.ts';
import { formatTable } from '../host/table.ts';
import { runInGuest } from '../kernel/boot.ts';
import { provideKernel } from '../kernel/build.ts';
import type { AnyChapter } from '../tour/chapter.ts';
import { indexPage } from '../tour/index-page.ts';
import { markdownPage } from '../tour/markdown.ts';
import { playChapter } from '../tour/play.ts';
import { CHAPTERS } from '../tour/registry.ts';
import { terminalEntry, terminalHeading } from '../tour/terminal.ts';
import { DEFAULT_LAB } from './hints.ts';

interface TourOptions {
  readonly all: boolean;
  readonly keep: boolean;
  /** A folder for the pages; undefined: none are written. */
  readonly docs?: string;
}

const GUEST_DEADLINE_MS = 10 * 60_000;

/** `lab tour`: experiments with a node proxy, each in a new lab, told as they happen. */
export function tourCommand(): Command {
  return new Command('tour')
    .description('play experiments with a node proxy, and see why each step happens')
    .argument('[chapter]', 'its name; without it: the list')
    .option('--all', 'every chapter, one after the other', false)
    .option('--keep', 'leave the lab up, to look around in it', false)
    .option('--docs <folder>', 'write what happened as a page for each chapter')
    .action(async (name: string | undefined, options: TourOptions) => {
      const chapters = options.all ? CHAPTERS : name === undefined ? [] : [findChapter(name)];
      if (options.docs !== undefined) await writePage(options.docs, 'README.md', indexPage());
      else if (chapters.length === 0) console.log(list());
      for (const chapter of chapters) await play(chapter, options);
    });
}

async function play(chapter: AnyChapter, options: TourOptions): Promise<void> {
  const signal = interruption();
  const progress = terminalProgress();
  const missing = missingOfKernel(chapter.kernelParts ?? []);
  const page = options.docs === undefined ? undefined : join(options.docs, `${chapter.name}.md`);
  if (missing !== undefined) {
    console.log(`\n${missing}: '${chapter.name}' is played in another one, User-mode Linux`);
    await playInGuest(chapter, { page, docs: options.docs, signal });
    return;
  }
  console.log(terminalHeading(chapter.title));
  const tell = (entry: Parameters<typeof terminalEntry>[0]): void => {
    process.stdout.write(terminalEntry(entry));
  };
  const lab = options.keep ? DEFAULT_LAB : undefined;
  const played = await playChapter(chapter, { lab, keep: options.keep, progress, signal, tell });
  if (options.docs !== undefined) {
    await writePage(options.docs, `${chapter.name}.md`, markdownPage(played));
  }
  console.log(`\n${ending(chapter, options)}`);
}

async function writePage(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text);
}

function ending(chapter: AnyChapter, { keep }: TourOptions): string {
  if (keep) return 'The lab is up: npm run lab -- status. Take it down: npm run lab -- down';
  const next = CHAPTERS[CHAPTERS.indexOf(chapter) + 1];
  return next === undefined
    ? 'That was the last chapter.'
    : `Next: npm run lab -- tour ${next.name}`;
}

async function playInGuest(
  chapter: AnyChapter,
  of: { page: string | undefined; docs: string | undefined; signal: AbortSignal },
): Promise<void> {
  const { page, docs, signal } = of;
  const kernel = await provideKernel({ progress: terminalProgress(), signal });
  const write = docs === undefined ? [] : ['--docs', docs];
  const argv = [process.execPath, process.argv[1] ?? '', 'tour', chapter.name, ...write] as const;
  const outputs = page === undefined ? [] : [page];
  const deadlineMs = GUEST_DEADLINE_MS;
  const exitCode = await runInGuest({ kernel, argv, outputs, deadlineMs, signal });
  if (exitCode === 0) return;
  throw new LabError('LAB_TOUR', `chapter '${chapter.name}' failed in the other kernel`, {
    next: `look at it there: npm run lab -- kernel shell, then npm run lab -- tour ${chapter.name} --keep`,
  });
}

function findChapter(name: string): AnyChapter {
  const chapter = CHAPTERS.find((candidate) => candidate.name === name);
  if (chapter) return chapter;
  throw new LabError('LAB_USAGE', `there is no chapter '${name}'`, {
    next: `choose one of: ${CHAPTERS.map((known) => known.name).join(', ')}`,
  });
}

function list(): string {
  const rows = CHAPTERS.map(({ name, title }) => [name, title]);
  return [
    'Experiments with a node proxy. Each starts a cluster in network namespaces, shows',
    'what happens and why, checks it, and removes everything.',
    '',
    formatTable([['CHAPTER', 'ABOUT'], ...rows]),
    '',
    `Begin: npm run lab -- tour ${CHAPTERS[0]?.name}`,
  ].join('\n');
}
