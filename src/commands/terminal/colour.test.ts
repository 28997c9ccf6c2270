import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colours } from './colour.ts';
import { visiblePage } from './visible.ts';

test('colours a terminal, and the page keeps the colours', () => {
  const { red, bold } = colours({ isTTY: true }, {});
  assert.equal(red('no'), '\x1b[31mno\x1b[39m');
  assert.equal(visiblePage(bold('HEAD')), '\x1b[1mHEAD\x1b[22m');
});

test('leaves everything else as it is', () => {
  const of = [
    colours({}, {}),
    colours({ isTTY: false }, {}),
    colours({ isTTY: true }, { NO_COLOR: '1' }),
  ];
  for (const { bold, red, yellow, green, dim } of of) {
    assert.equal([bold, red, yellow, green, dim].map((paint) => paint('x')).join(''), 'xxxxx');
  }
  assert.notEqual(colours({ isTTY: true }, { NO_COLOR: '' }).red('x'), 'x');
});
