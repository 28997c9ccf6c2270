import assert from 'node:assert/strict';
import { constants } from 'node:buffer';
import { test } from 'node:test';
import { JSON_ENCODING } from './json-encoding.ts';

test('returns undefined for a body longer than the longest string', () => {
  // Never written to, so it takes no memory.
  const body = Buffer.alloc(constants.MAX_STRING_LENGTH + 1);
  assert.equal(JSON_ENCODING.readList(body, 'service'), undefined);
});
