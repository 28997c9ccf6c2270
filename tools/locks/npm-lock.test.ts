import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LockEntry, NEVER_INSTALLED, npmLockProblems } from './npm-lock.ts';

const HASH = `sha512-${Buffer.alloc(64, 7).toString('base64')}`;
const GOOD: LockEntry = { version: '1.0.0', integrity: HASH };

function problemsOf(entry: LockEntry, allowScripts: Record<string, boolean> = {}): string[] {
  const lock = { packages: { '': {}, 'node_modules/@a/b': entry } };
  return npmLockProblems(lock, allowScripts).map(({ problem }) => problem);
}

test('accepts a package with a version and a hash', () => {
  assert.deepEqual(problemsOf(GOOD), []);
});

test('rejects an entry without a hash, or with a weak one', () => {
  assert.deepEqual(problemsOf({ version: '1.0.0' }), ['has no integrity']);
  for (const integrity of ['sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=', `${HASH} ${HASH}`, 'sha512-AA==']) {
    assert.deepEqual(problemsOf({ integrity }), ['has an integrity that is not one SHA-512']);
  }
});

test('rejects what does not come from a registry', () => {
  for (const resolved of [
    'git+ssh://git@host.example/a/b.git#0123',
    'file:../b',
    'https://host.example/b.tgz',
  ]) {
    const [problem = ''] = problemsOf({ ...GOOD, resolved });
    assert.match(problem, /^names where it comes from: /);
    assert.doesNotMatch(problem, /host\.example/);
  }
  assert.deepEqual(problemsOf({ link: true, integrity: HASH }), ['is a link to a folder']);
  for (const wanted of [
    'github:a/b',
    'git+https://host.example/b.git',
    'file:../b',
    'a/b',
    'http://h/b.tgz',
  ]) {
    assert.deepEqual(problemsOf({ ...GOOD, dependencies: { b: wanted } }), [
      `wants b from '${wanted}'`,
    ]);
  }
});

test('accepts ranges, tags and aliases of a registry', () => {
  for (const wanted of [
    '^1.2.3',
    '>=1 <3 || 4.x',
    'latest',
    '*',
    'npm:@a/b@^1.0.0-rc.1',
    '1 - 2',
  ]) {
    assert.deepEqual(problemsOf({ ...GOOD, optionalDependencies: { b: wanted } }), [], wanted);
  }
});

test('rejects an install script unless it is forbidden to run', () => {
  const entry = { ...GOOD, hasInstallScript: true };
  assert.deepEqual(problemsOf(entry), ['has an install script']);
  assert.deepEqual(problemsOf(entry, { '@a/b': false }), []);
  assert.deepEqual(problemsOf(entry, { '@a/b': true }), [
    'has an install script',
    'allows the install script of @a/b',
  ]);
});

test('accepts the hash of nothing only for platforms on which Fairlead is not built', () => {
  const spare = { integrity: NEVER_INSTALLED, dev: true, optional: true };
  assert.deepEqual(problemsOf({ ...spare, os: ['darwin'], cpu: ['arm64'] }), []);
  assert.deepEqual(problemsOf({ ...spare, os: ['linux'], cpu: ['x64'], libc: ['musl'] }), []);
  const needed = 'has the hash of nothing, and is needed where Fairlead is built';
  assert.deepEqual(problemsOf({ ...spare, os: 'linux', cpu: 'arm64', libc: ['glibc'] }), [needed]);
  assert.deepEqual(problemsOf({ ...spare, os: ['linux'] }), [needed]);
  assert.deepEqual(problemsOf({ ...spare, dev: false, os: ['darwin'] }), [needed]);
});
