import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { fitTable, wrapText } from './fit.ts';

it('breaks between words, and within one that is too long', () => {
  assert.deepEqual(wrapText('one two three', 7), ['one two', 'three']);
  assert.deepEqual(wrapText('a abcdefghij b', 4), ['a', 'abcd', 'efgh', 'ij b']);
  assert.deepEqual(wrapText('', 4), ['']);
});

it('wraps the last column only, below its own head', () => {
  const table = [
    ['NAME', 'WHY'],
    ['first', 'because it is so and no other way'],
    ['second', 'no'],
  ];
  assert.equal(
    fitTable(table, { width: 28 }),
    ['NAME    WHY', 'first   because it is so and', '        no other way', 'second  no'].join(
      '\n',
    ),
  );
});

it('loses no word, whatever the width', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 40 }), (given, width) => {
      const lines = wrapText(given.join(' '), width);
      assert.equal(lines.join('').replaceAll(' ', ''), given.join(''));
      assert.ok(lines.every((line) => line.length <= width));
    }),
  );
});
