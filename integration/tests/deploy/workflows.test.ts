import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { tryRun } from '../../../lab/host/run.ts';

const root = join(import.meta.dirname, '../../..');

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<string, { readonly 'timeout-minutes': number; readonly steps: readonly Step[] }>
  >;
}

const names = globSync('.github/workflows/*', { cwd: root }).sort();
const read = (name: string): Workflow => parse(readFileSync(join(root, name), 'utf8'));
const jobsOf = (name: string) => Object.values(read(name).jobs);
const stepsOf = (name: string) => jobsOf(name).flatMap(({ steps }) => steps);
const scriptsOf = (name: string) => stepsOf(name).flatMap(({ run }) => run ?? []);

describe('the workflows', () => {
  it('are those for a merge, the night and a release, and run what a person runs', () => {
    assert.deepEqual(
      names.map((name) => name.replace('.github/workflows/', '')),
      ['ci.yml', 'nightly.yml', 'release.yml'],
    );
    assert.ok(scriptsOf('.github/workflows/ci.yml').includes('.ci/run'));
    assert.ok(scriptsOf('.github/workflows/nightly.yml').includes('.ci/nightly'));
    const release = scriptsOf('.github/workflows/release.yml').join('\n');
    assert.match(release, /npm run release -- --twice/);
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.ok(scripts.release);
  });

  for (const name of names) {
    it(`${name} names every action by a commit, and ends`, () => {
      for (const { uses } of stepsOf(name)) {
        if (uses !== undefined) assert.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      }
      for (const job of jobsOf(name)) assert.ok(job['timeout-minutes'] > 0);
    });

    it(`${name} has read access alone, but for jobs that say otherwise`, () => {
      assert.deepEqual(read(name).permissions, { contents: 'read' });
    });

    it(`${name} has scripts that a shell reads, without text of others inside`, async () => {
      for (const script of scriptsOf(name)) {
        assert.doesNotMatch(
          script,
          /\$\{\{/,
          'pass it by env: the name of a branch is text of others',
        );
        const { exitCode, stderr } = await tryRun(['bash', '-n'], { input: script });
        assert.equal(exitCode, 0, stderr);
      }
    });
  }
});

describe('the issue forms', () => {
  const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: root })
    .filter((name) => !name.endsWith('config.yml'))
    .sort();

  it('ask for the bundle of the doctor', () => {
    assert.ok(forms.length > 0);
    for (const name of forms) {
      const { name: title, body } = parse(readFileSync(join(root, name), 'utf8'));
      assert.ok(title);
      const bundle = body.find(({ id }: { id?: string }) => id === 'bundle');
      assert.match(bundle.attributes.description, /fairlead doctor --bundle/);
    }
  });
});
