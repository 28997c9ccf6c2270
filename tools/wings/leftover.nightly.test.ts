import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkEach, type Removal } from './check.ts';

const ROOT = join(import.meta.dirname, '../..');
const TIMEOUT_MS = 120_000;
const signal = AbortSignal.timeout(2 * TIMEOUT_MS);

/** A small project with one wing, which stands as it should. */
const SOUND: Readonly<Record<string, string>> = {
  'src/main.ts': "import './commands/run.ts';\n",
  'src/commands/run.ts':
    "import { WINGS } from '../wings/wing-registry.ts';\n\nawait WINGS[0]?.load();\n",
  'src/wings/wing-registry.ts': `export const WINGS: readonly { name: string; load: () => Promise<unknown> }[] = [
  {
    name: 'ipvs',
    load: async () => (await import('./ipvs/ipvs-mode.ts')).IPVS,
  },
];
`,
  'src/wings/commands.ts': 'export {};\n',
  'src/wings/ipvs/ipvs-mode.ts': "export const IPVS = 'ipvs';\n",
};

/** What the check finds in this project without ipvs, with some files otherwise. */
async function problemsOf(t: TestContext, files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-planted-'));
  t.after(() => rm(root, { recursive: true }));
  for (const shared of ['tools', 'package.json', 'tsconfig.json', 'knip.json']) {
    await cp(join(ROOT, shared), join(root, shared), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const all = { ...SOUND, ...files, '.gitignore': 'node_modules\n' };
  for (const [file, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
  execFileSync('git', ['init', '-q'], { cwd: root });
  const removals: Removal[] = [];
  const onChecked = (removal: Removal) => void removals.push(removal);
  await checkEach(root, ['ipvs'], { signal, onChecked });
  assert.equal(removals.length, 1);
  return removals[0]?.problems.join('\n') ?? '';
}

describe('the check that a wing can be taken off', () => {
  it('finds nothing where the core knows the registry alone', async (t) => {
    assert.equal(await problemsOf(t, {}), '');
  });

  it('finds a leftover: an export of the core that only the wing uses', async (t) => {
    const problems = await problemsOf(t, {
      'src/agent/marks.ts': 'export const MARK = 1;\n',
      'src/wings/ipvs/ipvs-mode.ts':
        "import { MARK } from '../../agent/marks.ts';\n\nexport const IPVS = MARK;\n",
    });
    assert.match(problems, /only this wing uses:\n.*src\/agent\/marks\.ts/);
  });
});
