import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeTable } from './size-command.ts';

test('leaves unknown values out, and adds up the total', () => {
  const slots = { map: 'slots', entries: 250_000, room: 262_144 };
  const table = sizeTable([
    { ...slots, bytes: 8_388_920, whileGrowingBytes: 12_583_536 },
    { map: 'sent', entries: undefined, room: 0, bytes: 480, whileGrowingBytes: 0 },
  ]);
  assert.equal(
    table,
    [
      'MAP    ENTRIES  ROOM    MEMORY     WHILE IT GROWS',
      'slots  250000   262144  8.39 MB    12.58 MB',
      'sent                    0.0005 MB',
      'total                   8.39 MB',
    ].join('\n'),
  );
});
