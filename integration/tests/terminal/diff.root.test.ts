import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { tryRun } from '../../../lab/host/run.ts';
import { firstLine, MAIN } from './started.ts';

const NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
const NO_RIGHTS = [...NOBODY, '--bounding-set', '-all'];
const SHOP = join(import.meta.dirname, '../../../src/commands/render/testdata/shop.yaml');

it('diff says without rights what it needs, and shows no stack', async () => {
  const { exitCode, stdout, stderr } = await tryRun(
    ['unshare', '-n', ...NO_RIGHTS, process.execPath, MAIN, 'diff', '-f', SHOP],
    { deadlineMs: 60_000 },
  );
  assert.equal(firstLine(stderr), 'cannot read rules: this process lacks CAP_NET_ADMIN');
  assert.doesNotMatch(stderr, /^ +at /m);
  assert.deepEqual({ exitCode, stdout }, { exitCode: 1, stdout: '' });
});
