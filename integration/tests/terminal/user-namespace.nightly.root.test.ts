import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { startDaemon } from '../../../lab/host/processes.ts';
import { untilSynced } from '../fairlead-process.ts';
import { MAIN } from './started.ts';

const NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] as const;
const SHOP = join(import.meta.dirname, '../../../src/commands/render/testdata/shop.yaml');
const SYNC = ['--nodeport-addresses', '127.0.0.1/32', '--conntrack-max-per-core', '0'];

it('the agent programs Services in a user namespace of a user without rights', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-rootless-'));
  t.after(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o777);
  const logFile = join(folder, 'log');
  const flags = ['-f', SHOP, '--run-folder', join(folder, 'run'), ...SYNC];
  const proxy = startDaemon({
    name: 'fairlead in a user namespace',
    namespacePath: `/proc/${process.pid}/ns/net`,
    argv: [...NOBODY, 'unshare', '-Ur', '-n', process.execPath, MAIN, 'run', ...flags],
    logFile,
  });
  try {
    await untilSynced(proxy, folder);
  } finally {
    await proxy.kill();
  }
  assert.doesNotMatch(await readFile(logFile, 'utf8'), /cannot watch|EPERM/);
});
