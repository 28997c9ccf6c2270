import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { restoreLines } from './committer.ts';
import { TableChange } from './table-change.ts';

const FOUND = Array.from({ length: 200 }, (_, index) => `-j CHAIN-${index}`);

/** What the program is given for deletions of the first rules of a chain. */
function linesOf(count: number, found: readonly string[] = FOUND): readonly string[] {
  const change = new TableChange('nat');
  change.appendLast('A', '-j LAST');
  change.append('A', '-j NEW');
  for (const rule of found.slice(0, count)) change.deleteRule('A', rule);
  change.deleteRule('B', '-j OTHER');
  change.refillShrunk(new Map([['A', found]]));
  return restoreLines(change).slice(1, -1);
}

describe('a change that deletes rules of a chain', () => {
  it('names each of a few', () => {
    const lines = linesOf(100);
    assert.equal(lines.filter((line) => line.startsWith('-D A ')).length, 100);
    assert.ok(!lines.includes(':A - [0:0]'));
  });

  it('writes the others again, in order and before new ones, where many go', () => {
    const kept = FOUND.slice(150).map((rule) => `-A A ${rule}`);
    const wanted = [':A - [0:0]', '-D B -j OTHER', ...kept, '-A A -j NEW', '-A A -j LAST'];
    assert.deepEqual(linesOf(150), wanted);
  });

  it('keeps as many of equal rules as are not deleted', () => {
    const lines = linesOf(150, [...FOUND, ...FOUND.slice(0, 1)]);
    assert.equal(lines.filter((line) => line === '-A A -j CHAIN-0').length, 1);
  });
});
