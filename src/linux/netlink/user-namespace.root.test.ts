import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { run } from './testing/own-namespace.ts';

const PROGRAM = join(import.meta.dirname, 'testing/in-user-namespace.ts');
const NOBODY = ['--reuid', '65534', '--regid', '65534', '--clear-groups'] as const;
const PART_BYTES = 30_000;

/** The results in a user namespace of a user without rights over the machine. */
function inUserNamespace(...parts: readonly number[]): unknown {
  const program = [process.execPath, PROGRAM, ...parts.map(String)];
  return JSON.parse(run(['setpriv', ...NOBODY, 'unshare', '-Ur', '-n', ...program]));
}

it('takes as large buffers as it may have where forcing them is rejected', () => {
  assert.deepEqual(inUserNamespace(0, 3), ['ENOTSUP', 'ENOTSUP']);
});

it('names the limit when a message does not fit into them', () => {
  const wmemMax = Number(readFileSync('/proc/sys/net/core/wmem_max', 'utf8'));
  const tooMany = Math.ceil((2 * wmemMax) / PART_BYTES) + 1;
  const [code] = inUserNamespace(tooMany) as [string];
  assert.match(code, /^EMSGSIZE \d+ bytes exceed the send buffer; raise net\.core\.wmem_max$/);
});
