import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { rowsOf } from '../security/rows.ts';
import { NOT_TAKEN, QUOTAS } from './catalogue.ts';
import { withoutQuota } from './quota.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('the quotas that are taken away', () => {
  it('stand exactly once in their files', () => {
    const missing = QUOTAS.filter((quota) => withoutQuota(read(quota.file), quota) === undefined);
    assert.deepEqual(missing, []);
  });

  it('are those of all bounds of docs/limits.md, but for some with a reason', () => {
    const bounds = new Set(rowsOf(read('docs/limits.md')).map(({ what }) => what));
    const named = new Set([...QUOTAS.map(({ bound }) => bound), ...Object.keys(NOT_TAKEN)]);
    assert.deepEqual([...bounds.symmetricDifference(named)], []);
  });

  it('name tests that exist', () => {
    const unknown = QUOTAS.filter(({ test }) => test && !read(test.path).includes(test.words));
    assert.deepEqual(unknown, []);
  });
});

describe('withoutQuota', () => {
  const quota = { bound: 'a', file: 'a.ts', replace: 'if (full) return;', by: '' };

  it('replaces the text', () => {
    assert.equal(withoutQuota('if (full) return; go();', quota), ' go();');
  });

  it('finds that the text is not there, or twice', () => {
    assert.equal(withoutQuota('go();', quota), undefined);
    assert.equal(withoutQuota('if (full) return; if (full) return;', quota), undefined);
  });
});
