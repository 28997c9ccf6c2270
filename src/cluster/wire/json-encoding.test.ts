import assert from 'node:assert/strict';
import { constants } from 'node:buffer';
import { test } from 'node:test';
import { JSON_ENCODING } from './json-encoding.ts';

test('a body that is longer than a string can be is no list', () => {
  // Nobody writes to it, so that it costs no memory.
  const body = Buffer.alloc(constants.MAX_STRING_LENGTH + 1);
  assert.equal(JSON_ENCODING.readList(body, 'service'), undefined);
});
