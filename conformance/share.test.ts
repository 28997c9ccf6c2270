import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CORPUS } from './corpus.ts';
import { parseShare, shareOf } from './share.ts';

describe('shareOf', () => {
  it('gives each scenario to one share, in parts of about one size', () => {
    for (const parts of [1, 2, 3, 7]) {
      const shares = Array.from({ length: parts }, (_, at) =>
        shareOf(CORPUS, { number: at + 1, of: parts }),
      );
      assert.equal(shares.flat().length, CORPUS.length);
      assert.equal(new Set(shares.flat()).size, CORPUS.length);
      const sizes = shares.map((share) => share.length);
      assert.ok(Math.max(...sizes) - Math.min(...sizes) < CORPUS.length / 10, sizes.join(' '));
    }
  });

  it('keeps a configuration of few scenarios in one share', () => {
    const settingsOf = (number: number): Set<string> =>
      new Set(shareOf(CORPUS, { number, of: 2 }).map(({ setup }) => JSON.stringify(setup ?? {})));
    assert.ok(settingsOf(1).intersection(settingsOf(2)).size <= 2);
  });
});

describe('parseShare', () => {
  it('takes K/N, and rejects what names no part', () => {
    assert.deepEqual(parseShare('2/3'), { number: 2, of: 3 });
    for (const text of ['0/2', '3/2', '2', 'a/b', '1/2/3']) {
      assert.throws(() => parseShare(text), { code: 'LAB_USAGE' });
    }
  });
});
