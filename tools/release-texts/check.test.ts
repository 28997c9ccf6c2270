import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registryProblems, versionProblems } from './check.ts';

const problems = (text: string) => registryProblems([{ path: 'a.md', text }]).map(({ at }) => at);

test('rejects every command that takes Fairlead from a registry', () => {
  for (const command of [
    'npx fairlead services',
    '`npx fairlead`',
    'npx --yes fairlead@latest run',
    'npm install fairlead',
    'npm install --global fairlead',
    'npm i -g fairlead@0.1.0',
    'npm exec -- fairlead status',
    'pnpm dlx fairlead',
    'yarn add fairlead',
    'bunx fairlead',
    'npm install zod fairlead',
  ]) {
    assert.deepEqual(problems(`first\n${command}\n`), ['a.md:2'], command);
  }
});

test('accepts an install from a file, and other words', () => {
  for (const text of [
    'npm install --global ./fairlead-0.1.0.tgz',
    'npm install /tmp/fairlead-0.1.0.tgz',
    'npm install --global',
    'npm run -s fairlead -- status',
    'npm install --prefix DIR dist/release/fairlead-0.1.0.tgz',
    'npm ci, then fairlead status',
    'install Node and Fairlead for all users',
  ]) {
    assert.deepEqual(problems(text), [], text);
  }
});

test('rejects a version that package.json does not have, but for the list of versions', () => {
  const text = 'a\nlocalhost/fairlead:0.0.9, kubectl-fairlead-v0.1.0.tar.gz\n  newTag: 0.0.8\n';
  const found = (path: string) =>
    versionProblems([{ path, text }], '0.1.0').map(({ at, problem }) => `${at} ${problem}`);
  assert.deepEqual(found('b.md'), [
    "b.md:2 'fairlead:0.0.9': the version in package.json is 0.1.0",
    "b.md:3 'newTag: 0.0.8': the version in package.json is 0.1.0",
  ]);
  assert.deepEqual(found('CHANGELOG.md'), []);
});
