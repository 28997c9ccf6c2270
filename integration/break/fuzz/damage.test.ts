import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { damaged, damages } from './damage.ts';
import { TEMPLATES } from './templates.ts';

const TEMPLATE = TEMPLATES.slice[0] ?? '';

it('makes the same object of the same damages, whatever was damaged in between', () => {
  const all = fc.array(damages(), { maxLength: 8 });
  fc.assert(
    fc.property(all, all, (some, others) => {
      const first = damaged(TEMPLATE, some);
      const text = JSON.stringify(first);
      damaged(TEMPLATE, others);
      assert.equal(JSON.stringify(damaged(TEMPLATE, some)), text);
    }),
    { numRuns: 1000 },
  );
});

it('leaves the prototype alone where a key has its name', () => {
  const value = damaged('{"a":{}}', [{ how: 'pollute', at: 1, key: '__proto__' }]) as { a: object };
  assert.deepEqual(Object.keys(value.a), ['__proto__']);
  assert.equal(Object.getPrototypeOf(value.a), Object.prototype);
});
