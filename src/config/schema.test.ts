import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIELD_PATHS } from './fields/field-table.ts';
import { configurationJsonSchema } from './schema.ts';

function at(value: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined,
    value,
  );
}

test('describes every field and lets it be null', () => {
  const schema = configurationJsonSchema();
  assert.deepEqual(at(schema, ['required']), ['apiVersion', 'kind']);
  for (const path of FIELD_PATHS) {
    const steps = path.split('.').flatMap((name) => ['properties', name, 'anyOf', '0']);
    const field = at(schema, steps);
    assert.equal(typeof at(field, ['description']), 'string', path);
    assert.deepEqual(at(schema, [...steps.slice(0, -1), '1']), { type: 'null' }, path);
  }
});

test('lists the choices of a field for completion', () => {
  const mode = at(configurationJsonSchema(), ['properties', 'mode', 'anyOf', '0']);
  assert.deepEqual(at(mode, ['enum']), ['', 'nftables', 'iptables', 'ipvs']);
});
