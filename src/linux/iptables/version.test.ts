import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isAtLeast, parseVersion } from './version.ts';

describe('a version', () => {
  it('is found in the output of the program', () => {
    assert.deepEqual(parseVersion('iptables v1.8.9 (nf_tables)\n'), [1, 8, 9]);
    assert.equal(parseVersion('iptables: unknown option'), undefined);
  });

  it('is compared number by number', () => {
    assert.ok(isAtLeast([1, 8, 9], [1, 8, 9]));
    assert.ok(isAtLeast([1, 8, 11], [1, 8, 9]));
    assert.ok(isAtLeast([2, 0], [1, 8, 9]));
    assert.ok(!isAtLeast([1, 8, 7], [1, 8, 9]));
    assert.ok(!isAtLeast([1, 8], [1, 8, 9]));
  });
});
