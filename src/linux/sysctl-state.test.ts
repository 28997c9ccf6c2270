import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { kernelSysctls } from './sysctl.ts';
import {
  readSysctlState,
  restoreSysctls,
  type SysctlState,
  withChanges,
  writeSysctlState,
} from './sysctl-state.ts';

let folder = '';
let path = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-sysctls-'));
  path = join(folder, 'run', 'sysctls.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Plain files in place of the kernel's. */
function settings(values: Readonly<Record<string, string>>) {
  mkdirSync(join(folder, 'net'), { recursive: true });
  for (const [name, value] of Object.entries(values)) writeFileSync(join(folder, name), value);
  return kernelSysctls(folder);
}

const state = (entries: Record<string, { before: string; after: string }>): SysctlState =>
  new Map(Object.entries(entries));

describe('the saved settings', () => {
  it('are read as they were written', async () => {
    const text = fc.string({ maxLength: 10 });
    const entry = fc.record({ before: text, after: text }, { noNullPrototype: true });
    const entries = fc.array(fc.tuple(text, entry), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(entries, async (all) => {
        const written: SysctlState = new Map(all.filter(([name]) => name !== '__proto__'));
        await writeSysctlState(path, written);
        assert.deepEqual(await readSysctlState(path), written);
      }),
      { numRuns: 50 },
    );
  });

  it('are the same bytes in any order, and leave no other file', async () => {
    const a = { before: '1', after: '2' };
    await writeSysctlState(path, state({ x: a, y: a }));
    const first = readFileSync(path, 'utf8');
    await writeSysctlState(path, state({ y: a, x: a }));
    assert.equal(readFileSync(path, 'utf8'), first);
    assert.deepEqual(readdirSync(join(folder, 'run')), ['sysctls.json']);
  });

  it('are empty without a file, and have no file when empty', async () => {
    assert.equal((await readSysctlState(path)).size, 0);
    await writeSysctlState(path, state({ x: { before: '1', after: '2' } }));
    await writeSysctlState(path, new Map());
    assert.deepEqual(readdirSync(join(folder, 'run')), []);
  });

  it('that are broken are an error with the next step', async () => {
    mkdirSync(join(folder, 'run'));
    for (const text of ['', '{', '[]', '{"version":2,"settings":{}}', '{"version":1}']) {
      writeFileSync(path, text);
      await assert.rejects(readSysctlState(path), { code: 'SYSCTL_STATE' });
    }
    writeFileSync(path, '{"version":1,"settings":{"x":{"before":1,"after":"2"}}}');
    await assert.rejects(readSysctlState(path), { code: 'SYSCTL_STATE' });
  });

  it('that cannot be written are an error', async () => {
    writeFileSync(join(folder, 'run'), 'a file where a folder should be');
    const some = state({ x: { before: '1', after: '2' } });
    await assert.rejects(writeSysctlState(path, some), { code: 'SYSCTL_STATE' });
  });

  it('keep the value from before the first of our changes', () => {
    const first = withChanges(new Map(), [{ name: 'x', before: '1', after: '2' }]);
    const second = withChanges(first, [{ name: 'x', before: '2', after: '3' }]);
    assert.deepEqual(second, state({ x: { before: '1', after: '3' } }));
  });

  it('include the value that another process set between two changes', () => {
    const first = withChanges(new Map(), [{ name: 'x', before: '1', after: '2' }]);
    const second = withChanges(first, [{ name: 'x', before: '7', after: '2' }]);
    assert.deepEqual(second, state({ x: { before: '7', after: '2' } }));
  });
});

describe('restoring settings', () => {
  it('restores settings that still have our value, and nothing else', async () => {
    const sysctls = settings({ 'net/ours': '2\n', 'net/theirs': '9\n' });
    const was = { before: '1', after: '2' };
    await writeSysctlState(path, state({ 'net/ours': was, 'net/theirs': was }));
    const restored = await restoreSysctls(sysctls, path);
    assert.deepEqual(restored, {
      changes: [{ name: 'net/ours', before: '2', after: '1' }],
      leftAlone: ['net/theirs'],
      problems: [],
    });
    assert.equal(sysctls.read('net/theirs'), '9');
    assert.equal((await readSysctlState(path)).size, 0);
  });

  it('does nothing the second time', async () => {
    const sysctls = settings({ 'net/ours': '2\n' });
    await writeSysctlState(path, state({ 'net/ours': { before: '1', after: '2' } }));
    await restoreSysctls(sysctls, path);
    const nothing = { changes: [], leftAlone: [], problems: [] };
    assert.deepEqual(await restoreSysctls(sysctls, path), nothing);
  });

  it('keeps saved values that could not be restored, and drops missing settings', async () => {
    const sysctls = settings({});
    mkdirSync(join(folder, 'net/unreadable'));
    const was = { before: '1', after: '2' };
    await writeSysctlState(path, state({ 'net/gone': was, 'net/unreadable': was }));
    const { problems } = await restoreSysctls(sysctls, path);
    assert.deepEqual(problems.map(({ code }) => code).sort(), ['SYSCTL_FAILED', 'SYSCTL_MISSING']);
    assert.deepEqual([...(await readSysctlState(path)).keys()], ['net/unreadable']);
  });
});

describe('a file that another user could have prepared', () => {
  it('restores nothing when it names a setting that Fairlead never sets', async () => {
    const sysctls = settings({ 'net/a': '2', core_pattern: 'core' });
    const prepared = state({
      'net/a': { before: '1', after: '2' },
      core_pattern: { before: '|/tmp/x', after: 'core' },
    });
    await writeSysctlState(path, prepared);
    await assert.rejects(restoreSysctls(sysctls, path), { code: 'SYSCTL_STATE' });
    assert.deepEqual([sysctls.read('net/a'), sysctls.read('core_pattern')], ['2', 'core']);
  });

  it('is not written through a link', async () => {
    const target = join(folder, 'shadow');
    writeFileSync(target, 'kept');
    mkdirSync(join(folder, 'run'));
    symlinkSync(target, `${path}.${process.pid}`);
    await writeSysctlState(path, state({ 'net/a': { before: '1', after: '2' } }));
    assert.equal(readFileSync(target, 'utf8'), 'kept');
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });
});
