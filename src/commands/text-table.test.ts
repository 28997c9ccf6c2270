import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { styleText } from 'node:util';
import fc from 'fast-check';
import { formatTextTable, formatWrappedTable, terminalWidth } from './text-table.ts';

const WIDTH = 80;
const longest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

describe('a table', () => {
  it('has one line per row in output for programs', () => {
    const rows = [
      ['A'.repeat(100), 'b c'],
      ['x', 'y'],
    ];
    assert.equal(formatTextTable(rows, undefined), `${'A'.repeat(100)}  b c\nx${' '.repeat(101)}y`);
    assert.equal(terminalWidth({ isTTY: false, columns: 80 }), undefined);
    assert.equal(terminalWidth({ isTTY: true, columns: 132 }), 132);
  });

  it('fits the terminal for any contents, and loses nothing', () => {
    const cell = fc.stringMatching(/^[a-z0-9:[\]./-]{0,90}$/);
    const table = fc.integer({ min: 1, max: 8 }).chain((columns) =>
      fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), {
        minLength: 1,
        maxLength: 4,
      }),
    );
    fc.assert(
      fc.property(table, (rows) => {
        const text = formatTextTable(rows, WIDTH);
        assert.ok(longest(text) <= WIDTH, text);
        const letters = (all: string) =>
          [...all]
            .filter((each) => each.trim() !== '')
            .sort()
            .join('');
        assert.equal(letters(text), letters(rows.flat().join('')));
      }),
    );
  });

  it('breaks names and addresses between their parts', () => {
    const rows = [
      ['SERVICE', 'FRONTEND', 'NOTES'],
      [
        `${'n'.repeat(30)}/${'s'.repeat(20)}`,
        '[fd00:1234:5678:9abc:def0:1234:5678:9abc]:65535',
        '-',
      ],
    ];
    assert.deepEqual(formatTextTable(rows, 60).split('\n'), [
      'SERVICE                          FRONTEND              NOTES',
      'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn/  [fd00:1234:5678:      -',
      'ssssssssssssssssssss             9abc:def0:1234:5678:',
      '                                 9abc]:65535',
    ]);
  });

  it('keeps an address whole, as long as another column can shrink', () => {
    const rows = [
      ['SERVICE', 'FRONTEND', 'KIND', 'NOTES'],
      ['shop/web:http TCP', '[fd00:96::1:a4fb]:80', 'load-balancer-ip', 'only from 10.0.0.0/8'],
    ];
    assert.deepEqual(formatTextTable(rows, 60).split('\n'), [
      'SERVICE       FRONTEND              KIND         NOTES',
      'shop/         [fd00:96::1:a4fb]:80  load-        only from',
      'web:http TCP                        balancer-ip  10.0.0.0/8',
    ]);
  });

  it('keeps the colour of a cell on each of its lines', () => {
    const red = styleText('red', 'rejected because', { validateStream: false });
    const [, second = ''] = formatTextTable([['x'.repeat(10), red]], 20).split('\n');
    assert.ok(second.includes('\x1b[31mbecause\x1b[39m'), second);
  });
});

it('wraps the last column only, below its own head', () => {
  const table = [
    ['NAME', 'WHY'],
    ['first', 'because it is so and no other way'],
    ['second', 'no'],
  ];
  assert.equal(
    formatWrappedTable(table, { width: 28 }),
    ['NAME    WHY', 'first   because it is so and', '        no other way', 'second  no'].join(
      '\n',
    ),
  );
});
