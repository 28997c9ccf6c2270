import assert from 'node:assert/strict';
import { it } from 'node:test';
import { tryRun } from '../../../lab/host/run.ts';
import { firstLine, MAIN } from './started.ts';

const NOBODY = ['setpriv', '--reuid', '65534', '--clear-groups'];

it('cleanup without rights says so, and not that anything was removed', async () => {
  const { exitCode, stdout, stderr } = await tryRun(
    ['unshare', '-n', ...NOBODY, process.execPath, MAIN, 'cleanup'],
    { deadlineMs: 60_000 },
  );
  assert.equal(firstLine(stderr), 'cannot change rules: this process lacks CAP_NET_ADMIN');
  assert.deepEqual({ exitCode, stdout }, { exitCode: 1, stdout: '' });
});
