import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaText } from './schema.ts';
import type { ChartValue } from './values.ts';
import { valuesText } from './values-file.ts';

function value(path: string, preset: unknown, about = 'About.'): ChartValue {
  return { path, default: preset, schema: { type: 'string' }, about };
}

test('nests values by their paths, and opens each object once', () => {
  const lines = valuesText([value('a.b', 1), value('a.c', ''), value('d', []), value('e.b', true)])
    .split('\n')
    .filter((line) => !line.trim().startsWith('#'));
  assert.deepEqual(lines, ['a:', '  b: 1', '  c: ""', 'd: []', 'e:', '  b: true', '']);
});

test('wraps a long description into comments with the indent of the value', () => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
  const comments = valuesText([value('a.b', 1, words)])
    .split('\n')
    .filter((line) => line.startsWith('  # '));
  assert.ok(comments.length > 1);
  assert.ok(comments.every((line) => line.length <= 102));
  assert.equal(comments.map((line) => line.slice('  # '.length)).join(' '), words);
});

test('writes a schema that accepts no other key, at any depth', () => {
  const { properties, additionalProperties } = JSON.parse(schemaText([value('a.b', 1)]));
  assert.equal(additionalProperties, false);
  assert.equal(properties.a.additionalProperties, false);
  assert.deepEqual(properties.a.properties.b, {
    description: 'About.',
    default: 1,
    type: 'string',
  });
});
