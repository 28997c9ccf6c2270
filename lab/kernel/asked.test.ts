import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedKernel } from './asked.ts';

test('nothing is run elsewhere without the option', () => {
  assert.equal(askedKernel(['--proxy', 'fairlead-nftables'], ['--json']), undefined);
});

test('the option is removed, and files that the command writes are found', () => {
  const args = ['--proxy', 'a', '--kernel', 'uml', '--json', 'out.json', '--docs=docs/a.md'];
  assert.deepEqual(askedKernel(args, ['--json', '--docs']), {
    args: ['--proxy', 'a', '--json', 'out.json', '--docs', 'docs/a.md'],
    outputs: ['out.json', 'docs/a.md'],
  });
});

test('an unknown kernel is an error that names the known ones', () => {
  assert.throws(() => askedKernel(['--kernel', 'bsd'], []), { code: 'LAB_USAGE' });
  assert.throws(() => askedKernel(['--kernel'], []), { code: 'LAB_USAGE' });
});
