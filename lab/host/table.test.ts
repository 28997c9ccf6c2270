import assert from 'node:assert/strict';
import { it } from 'node:test';
import { styleText } from 'node:util';
import { formatTable } from './table.ts';

it('formatTable() aligns columns by what is visible, not by colour codes', () => {
  const green = styleText('green', 'ok', { validateStream: false });
  assert.equal(
    formatTable([
      ['NAME', 'STATE', 'TIME'],
      ['a', green, '1 s'],
      ['longer', 'failed', '2 s'],
    ]),
    `NAME    STATE   TIME\na       ${green}      1 s\nlonger  failed  2 s`,
  );
});
