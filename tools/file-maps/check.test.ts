import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { checkFileMaps, mapProblems } from './check.ts';

const ROOT = join(import.meta.dirname, '../..');

it('finds a complete README in every folder of src', async () => {
  const { folderCount, problems } = await checkFileMaps(ROOT, 'src');
  assert.deepEqual(problems, []);
  assert.ok(folderCount > 20);
});

it('reports what a map lacks, and what it lists in vain', () => {
  const readme =
    '# x\n| file | holds |\n|---|---|\n| `a.ts` | a |\n| `b.ts` |  |\n| `a.ts` | a |\n';
  assert.deepEqual(mapProblems(readme, ['a.ts', 'c.ts', 'd/']), [
    'does not list c.ts',
    'does not list d/',
    'lists b.ts, which is not there',
    'lists a.ts twice',
    'says nothing of b.ts',
  ]);
});

it('asks for a README where there is source, and not for tests or test data', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-file-maps-'));
  t.after(() => rm(root, { recursive: true }));
  for (const file of ['src/a/b.ts', 'src/a/b.test.ts', 'src/a/testing/c.ts', 'src/d/e.json']) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), '');
  }
  await writeFile(join(root, 'src/README.md'), '| `a/` | all of it |\n');
  const { problems } = await checkFileMaps(root, 'src');
  assert.deepEqual(problems, [{ file: 'src/a/README.md', problem: 'is missing' }]);
});
