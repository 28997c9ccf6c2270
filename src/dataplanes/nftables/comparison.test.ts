import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Differences } from '../differences.ts';
import { Comparison } from './comparison.ts';
import { emptyView } from './element-view.ts';
import { newRowNumbers } from './row-numbers.ts';
import { row } from './testing/rows.ts';

describe('a list of source ranges that many ports of a Service share', () => {
  it('is compared once, and reported once', () => {
    const allowedSources = Array.from({ length: 500 }, (_, i) => `20.${i >> 8}.${i & 255}.0/24`);
    const differences = new Differences();
    const comparison = new Comparison({
      family: 'ip',
      view: emptyView(),
      numbers: newRowNumbers(),
      orders: new Map(),
      differences,
    });
    const rows = Array.from({ length: 40 }, (_, number) => row({ number, allowedSources }));
    const compared = rows.map((each) => comparison.compare(each));
    assert.equal(compared.filter(({ missingRanges }) => missingRanges !== undefined).length, 1);
    // The other elements of a row are a dozen.
    assert.ok(differences.count < 40 * 20 + 2 * 500, `${differences.count} elements`);
  });
});
