import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { nameProcess } from './process-name.ts';

test('names the process, and keeps its command line', () => {
  const read = (file: string) => readFileSync(`/proc/self/${file}`, 'utf8');
  const before = { name: read('comm').trim(), commandLine: read('cmdline') };
  nameProcess('fairlead');
  assert.deepEqual(
    { name: read('comm').trim(), commandLine: read('cmdline') },
    { ...before, name: 'fairlead' },
  );
  assert.notEqual(before.name, 'fairlead');
});
