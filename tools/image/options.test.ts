import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ImageError } from './image-error.ts';
import { HelpWanted, readOptions } from './options.ts';

const wanted = {
  options: { out: { type: 'string' } },
  usage: 'npm run image -- [--out FILE]',
} as const;

it('reads options', () => {
  assert.equal(readOptions(['--out', 'a.tar'], wanted).out, 'a.tar');
});

it('answers --help with the usage', () => {
  const isHelp = (error: unknown) => error instanceof HelpWanted && error.message === wanted.usage;
  assert.throws(() => readOptions(['--out', 'a.tar', '--help'], wanted), isHelp);
});

it('names an unknown option, with the usage as what to do next', () => {
  const isUsage = (error: unknown) =>
    error instanceof ImageError &&
    error.code === 'IMAGE_USAGE' &&
    error.message.includes('--outt') &&
    error.next === wanted.usage;
  assert.throws(() => readOptions(['--outt', 'a.tar'], wanted), isUsage);
});
