import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BOUNDS, boundsOf } from './list.ts';
import { TESTED } from './tested.ts';

const LIMITS = readFileSync(join(import.meta.dirname, '../../../../docs/limits.md'), 'utf8');

describe('the list of bounds', () => {
  it('names each bound once, and only bounds that docs/limits.md has', () => {
    const names = [...BOUNDS, ...TESTED].map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    const unknown = names.filter((name) => !LIMITS.includes(`"${name}"`) && !isTested(name));
    assert.deepEqual(unknown, []);
  });

  it('gives those of a mode, by words of their names', () => {
    const names = (mode: Parameters<typeof boundsOf>[0], only?: string): string[] =>
      boundsOf(mode, only).map(({ name }) => name);
    assert.ok(!names('nftables').some((name) => ['slots', 'connections'].includes(name)));
    assert.deepEqual(names('userspace', 'slots, health'), ['health clients', 'slots']);
    assert.deepEqual(names('nftables', 'slots'), []);
  });
});

/** Its file is the test of a row. */
function isTested(name: string): boolean {
  const test = TESTED.find((each) => each.name === name)?.test;
  return test !== undefined && LIMITS.includes(`\`${test}\``);
}
