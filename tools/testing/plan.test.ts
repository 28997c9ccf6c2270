import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planTests } from './plan.ts';

const FILES = [
  'docs/example.test.ts',
  'lab/network/bridge.root.test.ts',
  'lab/network/bridge.ts',
  'src/addresses/ip.test.ts',
  'src/addresses/ip.ts',
];

describe('planTests', () => {
  it('runs every test when root', () => {
    assert.deepEqual(planTests(FILES, { isRoot: true, only: [] }), {
      run: ['lab/network/bridge.root.test.ts', 'src/addresses/ip.test.ts'],
      skipped: [],
    });
  });

  it('says which tests it leaves out when not root', () => {
    assert.deepEqual(planTests(FILES, { isRoot: false, only: [] }), {
      run: ['src/addresses/ip.test.ts'],
      skipped: ['lab/network/bridge.root.test.ts'],
    });
  });

  it('narrows to the paths asked for', () => {
    assert.deepEqual(planTests(FILES, { isRoot: true, only: ['addresses'] }), {
      run: ['src/addresses/ip.test.ts'],
      skipped: [],
    });
  });

  it('runs what takes minutes only when it is asked for', () => {
    const files = ['src/a.nightly.root.test.ts', 'src/b.test.ts'];
    assert.deepEqual(planTests(files, { isRoot: true, only: [] }).run, ['src/b.test.ts']);
    assert.deepEqual(planTests(files, { isRoot: true, only: ['nightly'] }).run, [files[0]]);
  });

  it('parts the tests of the core from all others, which have those that need wings too', () => {
    const files = ['lab/a.test.ts', 'src/b.test.ts', 'src/c.test.ts', 'src/wings/ipvs/d.test.ts'];
    const wishes = { isRoot: true, only: [], needingWings: new Set(['src/c.test.ts']) };
    const core = planTests(files, { ...wishes, part: 'core' }).run;
    const others = planTests(files, { ...wishes, part: 'others' }).run;
    assert.deepEqual(core, ['src/b.test.ts', 'src/c.test.ts']);
    assert.deepEqual(others, ['lab/a.test.ts', 'src/c.test.ts', 'src/wings/ipvs/d.test.ts']);
  });

  it('finds nothing for a path that is not there', () => {
    assert.deepEqual(planTests(FILES, { isRoot: true, only: ['adresses'] }).run, []);
  });
});
