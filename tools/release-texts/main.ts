/** `npm run check -- release-texts`: texts name this version, and no program of another owner. */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type NamedText, registryProblems, versionProblems } from './check.ts';

const PAGES = ['*.md', 'docs/**/*.md', 'deploy/**/*', '.github/**/*'];
const SOURCES = ['{src,lab,e2e,integration,bench,conformance}/**/*.{ts,md}'];
const root = join(import.meta.dirname, '../..');

const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const pages = await textsOf(PAGES);
const sources = await textsOf(SOURCES);
const problems = [...registryProblems([...pages, ...sources]), ...versionProblems(pages, version)];

for (const { at, problem, remedy } of problems) {
  console.error(`${at}\n  problem  ${problem}\n  remedy   ${remedy}\n`);
}
if (pages.length === 0 || sources.length === 0) {
  console.error(`No texts below ${root}: a check that reads nothing must not pass.`);
}
if (pages.length === 0 || sources.length === 0 || problems.length > 0) process.exitCode = 1;
else console.log(`${pages.length} pages and ${sources.length} sources name ${version} only.`);

async function textsOf(patterns: readonly string[]): Promise<NamedText[]> {
  const found = await Array.fromAsync(glob(patterns, { cwd: root, withFileTypes: true }));
  const paths = found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
  return await Promise.all(
    paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })),
  );
}
