import assert from 'node:assert/strict';
import { it } from 'node:test';
import { yamlOf } from './yaml.ts';

it('writes maps, lists, and expressions with quotes as blocks', () => {
  const value = {
    name: 'a b',
    items: [
      { x: 1, deep: { query: 'up{job="a"} == 0' } },
      { x: 2, deep: { query: 'one\ntwo' } },
    ],
  };
  const expected = `name: a b
items:
  - x: 1
    deep:
      query: |-
        up{job="a"} == 0
  - x: 2
    deep:
      query: |-
        one
        two
`;
  assert.equal(yamlOf(value), expected);
});

it('quotes what YAML would read as something else', () => {
  for (const text of ['yes', '5m', '{{ $value }}', 'a: b', 'a #b', '', 'x ', '- a', '* b']) {
    assert.equal(yamlOf({ text }), `text: ${JSON.stringify(text)}\n`, text);
  }
  assert.equal(yamlOf({ text: 'docs/page.md#part' }), 'text: docs/page.md#part\n');
});
