/** `npm run check -- locks`: everything that is installed or built is pinned by a hash. */
import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { goModuleProblems } from './go-modules.ts';
import { type LockProblem, type NpmLock, npmLockProblems } from './npm-lock.ts';

const root = join(import.meta.dirname, '../..');
const lock = JSON.parse(await text('package-lock.json')) as NpmLock;
const { allowScripts = {} } = JSON.parse(await text('package.json')) as {
  allowScripts?: Record<string, boolean>;
};
const modules = (await Array.fromAsync(glob('lab/parts/*/go.mod', { cwd: root }))).sort();
const problems: LockProblem[] = npmLockProblems(lock, allowScripts);
for (const path of modules) {
  const sum = await text(join(dirname(path), 'go.sum')).catch(unlessMissing);
  problems.push(...goModuleProblems({ path, mod: await text(path), sum }));
}

for (const { entry, problem, remedy } of problems) {
  console.error(`${entry}\n  problem  ${problem}\n  remedy   ${remedy}\n`);
}
const count = Object.keys(lock.packages).length - 1;
if (count < 1 || modules.length === 0) {
  console.error('No packages or no Go modules: a check that reads nothing must not pass.');
  process.exitCode = 1;
} else if (problems.length > 0) {
  console.error(
    `Problems: ${problems.length}, in ${count} packages and ${modules.length} modules.`,
  );
  process.exitCode = 1;
} else {
  console.log(`${count} packages and ${modules.length} Go modules, all pinned.`);
}

async function text(path: string): Promise<string> {
  return await readFile(join(root, path), 'utf8');
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
