import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

export interface Problem {
  /** The README, from the root of the project. */
  readonly file: string;
  readonly problem: string;
}

export interface Report {
  readonly folderCount: number;
  readonly problems: readonly Problem[];
}

/** They need no README, and a map may list them or not. */
const LEFT_OUT = new Set(['testing', 'testdata']);
const ROW = /^\|\s*`([^`]+)`\s*\|\s*(.*?)\s*\|\s*$/;

/** Whether each folder of source has a README that lists its files and subfolders, and no others. */
export async function checkFileMaps(root: string, below: string): Promise<Report> {
  const folders = await foldersOf(join(root, below));
  const problems = await Promise.all(
    folders.map(async ({ path, names }) => {
      const file = relative(root, join(path, 'README.md'));
      const text = await readIfThere(join(path, 'README.md'));
      if (text === undefined) return [{ file, problem: 'is missing' }];
      return mapProblems(text, names).map((problem) => ({ file, problem }));
    }),
  );
  return { folderCount: folders.length, problems: problems.flat() };
}

export function mapProblems(readme: string, names: readonly string[]): string[] {
  const rows = readme.split('\n').flatMap((line) => {
    const [, name, about] = ROW.exec(line) ?? [];
    return name === undefined ? [] : [{ name, about: about ?? '' }];
  });
  const listed = rows.map(({ name }) => name);
  return [
    ...names.filter((name) => !listed.includes(name)).map((name) => `does not list ${name}`),
    ...listed
      .filter((name) => !names.includes(name) && !LEFT_OUT.has(name.slice(0, -1)))
      .map((name) => `lists ${name}, which is not there`),
    ...listed.filter((name, at) => listed.indexOf(name) < at).map((name) => `lists ${name} twice`),
    ...rows.filter(({ about }) => about === '').map(({ name }) => `says nothing of ${name}`),
  ];
}

interface Folder {
  readonly path: string;
  /** Files of source, and folders with a `/` at the end. */
  readonly names: readonly string[];
}

async function foldersOf(path: string): Promise<Folder[]> {
  const entries = await readdir(path, { withFileTypes: true });
  const inner = entries.filter((entry) => entry.isDirectory() && !LEFT_OUT.has(entry.name));
  const nested = (await Promise.all(inner.map(({ name }) => foldersOf(join(path, name))))).flat();
  const files = entries.filter((entry) => entry.isFile() && isListed(entry.name));
  const subfolders = inner.filter(({ name }) =>
    nested.some((each) => each.path === join(path, name)),
  );
  const names = [...files.map(({ name }) => name), ...subfolders.map(({ name }) => `${name}/`)];
  return names.length === 0 ? nested : [{ path, names: names.sort() }, ...nested];
}

function isListed(name: string): boolean {
  return name.endsWith('.ts') && !name.endsWith('.test.ts');
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
