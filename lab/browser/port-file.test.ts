import assert from 'node:assert/strict';
import { it } from 'node:test';
import { portIn } from './port-file.ts';

it('reads the port of a complete file', () => {
  assert.equal(portIn('41234\n/devtools/browser/3f'), 41_234);
});

it('reads no port while the file is being written', () => {
  for (const text of ['', '4', '41234', '41234\n']) assert.equal(portIn(text), undefined, text);
});
