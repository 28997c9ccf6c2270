import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unknownImages } from './images.ts';

test('finds the image whose tag is that of another version', () => {
  const listed = ['example.test/agnhost:2.66.1', 'example.test/pause:3.10.2', ''];
  assert.deepEqual(unknownImages(['example.test/agnhost:2.66.1'], listed), []);
  assert.deepEqual(unknownImages(['example.test/agnhost:2.63.0'], listed), [
    'example.test/agnhost:2.63.0',
  ]);
});
