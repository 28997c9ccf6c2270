import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { growthText, parseCaches } from './slab-growth.ts';

const HEAD = `slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>`;
const row = (name: string, total: number): string =>
  `${name} 1 ${total} 1024 16 4 : tunables 0 0 0 : slabdata 1 1 0`;

describe('growthText()', () => {
  it('names the caches that have grown, the most first', () => {
    const before = parseCaches(`${HEAD}\n${row('a', 10)}\n${row('b', 10)}\n${row('c', 10)}\n`);
    const after = parseCaches(
      `${HEAD}\n${row('a', 10 + 6 * 1024)}\n${row('b', 20)}\n${row('c', 10 + 9 * 1024)}\n`,
    );
    assert.equal(growthText(before, after), 'c +9 MB, a +6 MB');
  });
});
