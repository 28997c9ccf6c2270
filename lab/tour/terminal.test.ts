import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { terminalEntry, wrap } from './terminal.ts';

const NARROW = Object.assign(new PassThrough(), { columns: 30 }) as unknown as NodeJS.WriteStream;

test('text fits the terminal, and a long word stays whole', () => {
  const text = wrap('a rule for http://10.96.111.132:80/hostname?of=the-pod and no more', 30);
  const lines = text.split('\n');
  assert.deepEqual(lines, [
    'a rule for',
    'http://10.96.111.132:80/hostname?of=the-pod',
    'and no more',
  ]);
});

test('a command has the prompt of its host and its output as it was', () => {
  const command = { host: 'machine', typed: 'curl -s x', output: 'one\n  two' };
  const shown = terminalEntry({ kind: 'command', command }, NARROW);
  assert.equal(shown, '\n  machine# curl -s x\n  one\n    two\n');
});
