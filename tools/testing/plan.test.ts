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

  it('finds nothing for a path that is not there', () => {
    assert.deepEqual(planTests(FILES, { isRoot: true, only: ['adresses'] }).run, []);
  });
});
