import assert from 'node:assert/strict';
import { it } from 'node:test';
import { format, inspect } from 'node:util';
import { Secret } from './secret.ts';

it('shows its value only by reveal()', () => {
  const secret = new Secret('hunter2');
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ nested: [secret] }, { showHidden: true, depth: 9 }),
    format('%s %o %j', secret, secret, secret),
    Object.values(secret).join(),
  ];
  for (const text of shown) assert.doesNotMatch(text, /hunter2/);
  assert.equal(secret.reveal(), 'hunter2');
});
