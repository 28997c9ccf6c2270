import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseSizes, sizeText } from './sizes.ts';

describe('parseSizes()', () => {
  it('reads sizes, the smallest first', () => {
    const sizes = parseSizes('10000x10, 100x5');
    assert.deepEqual(sizes.map(sizeText), ['100 x 5', '10,000 x 10']);
  });

  it('rejects a text that is not a size', () => {
    assert.throws(() => parseSizes('100x5,many'), { code: 'LAB_USAGE' });
  });
});
