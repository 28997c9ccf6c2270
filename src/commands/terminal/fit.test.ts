import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { wrapped } from './fit.ts';

it('breaks between words, and within one that is too long', () => {
  assert.deepEqual(wrapped('one two three', 7), ['one two', 'three']);
  assert.deepEqual(wrapped('a abcdefghij b', 4), ['a', 'abcd', 'efgh', 'ij b']);
  assert.deepEqual(wrapped('', 4), ['']);
});

it('loses no word, whatever the width', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 40 }), (given, width) => {
      const lines = wrapped(given.join(' '), width);
      assert.equal(lines.join('').replaceAll(' ', ''), given.join(''));
      assert.ok(lines.every((line) => line.length <= width));
    }),
  );
});
