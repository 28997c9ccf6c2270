import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readStamp } from './read-stamp.ts';

function stampOf(managedFields: unknown) {
  return readStamp({ metadata: { resourceVersion: '9', managedFields } });
}

const at = (manager: string, time: string, more: object = {}) => ({
  manager,
  operation: 'Update',
  time,
  fieldsV1: { 'f:spec': {} },
  ...more,
});

describe('readStamp', () => {
  it('gives the last writer, without its fields', () => {
    const { resourceVersion, writers } = stampOf([
      at('kubectl-create', '2026-01-01T00:00:00Z'),
      at('cloud-controller', '2026-01-01T00:00:05Z', { subresource: 'status' }),
      at('kubectl-edit', '2026-01-01T00:00:03Z'),
    ]);
    assert.equal(resourceVersion, '9');
    const atMs = Date.parse('2026-01-01T00:00:05Z');
    const operation = 'Update';
    assert.deepEqual(writers, [
      { manager: 'cloud-controller', operation, subresource: 'status', atMs },
    ]);
  });

  it('gives every writer of the last second, at most three', () => {
    const names = ['a', 'b', 'c', 'd'].map((name) => at(name, '2026-01-01T00:00:00Z'));
    assert.deepEqual(
      stampOf(names).writers.map(({ manager }) => manager),
      ['a', 'b', 'c'],
    );
  });

  it('gives none where none is recorded, and bounded texts', () => {
    assert.deepEqual(stampOf(undefined).writers, []);
    assert.deepEqual(stampOf([{ manager: 'x' }]).writers, []);
    const [writer] = stampOf([at('m'.repeat(9_999), '2026-01-01T00:00:00Z')]).writers;
    assert.equal(writer?.manager.length, 128);
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.anything(), (raw) => void readStamp(raw)));
    fc.assert(fc.property(fc.anything(), (raw) => void stampOf([raw])));
  });
});
