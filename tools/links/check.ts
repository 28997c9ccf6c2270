import { access, readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { anchorsOf, linksOf } from './markdown.ts';

export interface BrokenLink {
  /** `file:line`. */
  readonly at: string;
  readonly target: string;
  readonly problem: 'no such file' | 'no such heading';
}

export interface Report {
  readonly pageCount: number;
  readonly linkCount: number;
  readonly broken: readonly BrokenLink[];
}

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage']);
const WITH_SCHEME = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;

/** Every relative link of every Markdown page below `root` leads to a file, and to a heading in it. */
export async function checkLinks(root: string): Promise<Report> {
  const pages = await markdownPages(root);
  const texts = new Map<string, string>();
  for (const page of pages) texts.set(page, await readFile(join(root, page), 'utf8'));
  const broken: BrokenLink[] = [];
  let linkCount = 0;
  for (const [page, text] of texts) {
    for (const { target, line } of linksOf(text)) {
      if (WITH_SCHEME.test(target)) continue;
      linkCount++;
      const problem = await problemOf({ root, page, target, texts });
      if (problem !== undefined) broken.push({ at: `${page}:${line}`, target, problem });
    }
  }
  return { pageCount: pages.length, linkCount, broken };
}

interface RelativeLink {
  readonly root: string;
  readonly page: string;
  readonly target: string;
  readonly texts: ReadonlyMap<string, string>;
}

async function problemOf(link: RelativeLink): Promise<BrokenLink['problem'] | undefined> {
  const [path = '', anchor] = decodeURI(link.target).split('#', 2);
  const file = path === '' ? link.page : normalize(join(dirname(link.page), path));
  if (!(await exists(join(link.root, file)))) return 'no such file';
  const text = link.texts.get(file);
  if (anchor === undefined || text === undefined) return undefined;
  return anchorsOf(text).has(anchor) ? undefined : 'no such heading';
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

async function markdownPages(root: string, folder = ''): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const nested = await Promise.all(
    entries.map(async (entry): Promise<string[]> => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) return entry.name.endsWith('.md') ? [path] : [];
      const isOurs = !NOT_OURS.has(entry.name) && !entry.name.startsWith('.');
      return isOurs ? await markdownPages(root, path) : [];
    }),
  );
  return nested.flat().sort();
}
