import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDocuments } from './documents.ts';
import { objectsOf } from './manifest-set.ts';

const DEEP = 20_000;

/** Each list holds the one before nine times: nine to the ninth entries, written in 500 bytes. */
function aliasBomb(): string {
  const lists = Array.from({ length: 9 }, (_, level) => {
    const entry = level === 0 ? 'x' : `*l${level - 1}`;
    return `l${level}: &l${level} [${Array(9).fill(entry).join(',')}]`;
  });
  return `kind: Service\napiVersion: v1\n${lists.join('\n')}\n`;
}

describe('readDocuments, hostile manifests', () => {
  it('reports a problem when aliases expand exponentially', () => {
    const [document] = readDocuments(aliasBomb());
    assert.ok(document && 'problem' in document);
    assert.match(document.problem, /alias/i);
  });

  it('reads deeply nested documents or reports a problem', () => {
    for (const text of [
      '['.repeat(DEEP),
      `{"kind":"List","items":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`,
      `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
    ]) {
      for (const document of readDocuments(text)) {
        if ('value' in document) assert.deepEqual(objectsOf(document.value), []);
      }
    }
  });

  it('does not change prototypes', () => {
    const text = '{"kind":"Service","apiVersion":"v1","__proto__":{"polluted":1}}';
    const yaml = 'kind: Service\napiVersion: v1\n__proto__: { polluted: 1 }\n';
    for (const written of [text, yaml]) {
      for (const document of readDocuments(written)) {
        if ('value' in document) objectsOf(document.value);
      }
      assert.equal('polluted' in {}, false);
    }
  });
});
