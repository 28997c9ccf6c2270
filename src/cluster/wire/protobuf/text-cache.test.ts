import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { TextCache } from './text-cache.ts';

it('returns the string of the bytes, whatever it cached before', () => {
  const texts = fc.array(fc.oneof(fc.string({ maxLength: 3 }), fc.string({ unit: 'binary' })));
  fc.assert(
    fc.property(texts, (list) => {
      const cache = new TextCache();
      for (const text of [...list, ...list]) {
        const bytes = Buffer.from(`x${text}`);
        assert.equal(cache.read(bytes, 1, bytes.length), bytes.toString('utf8', 1));
      }
    }),
  );
});

it('decodes invalid UTF-8 as Node does, also if a cached string has the same length', () => {
  const cache = new TextCache();
  for (const bytes of [Buffer.from('ÿ', 'latin1'), Buffer.from([0xfd]), Buffer.from([0x80])]) {
    assert.equal(cache.read(bytes, 0, bytes.length), bytes.toString('utf8'));
  }
});
