import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { tryRun } from '../../../lab/host/run.ts';
import { firstLine, MAIN } from './started.ts';

const SETTINGS = '/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_*';

it('run with a mode that does not exist says so before it changes anything', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-mode-'));
  t.after(() => rm(folder, { recursive: true }));
  const runFolder = join(folder, 'run');
  // In a network namespace of its own, which has settings of its own.
  const script = `grep . ${SETTINGS}; "$@"; code=$?; echo; grep . ${SETTINGS}; exit $code`;
  const run = [process.execPath, MAIN, 'run', '--proxy-mode=later', '--run-folder', runFolder];
  const { exitCode, stdout, stderr } = await tryRun(
    ['unshare', '-n', 'sh', '-c', script, 'sh', ...run],
    { deadlineMs: 60_000 },
  );
  assert.match(firstLine(stderr), /--proxy-mode: must be one of nftables, .*, and is "later"/);
  assert.equal(exitCode, 1);
  const [before, after] = stdout.trim().split('\n\n');
  assert.ok(before?.includes('established:'));
  assert.equal(after, before);
  assert.equal(existsSync(runFolder), false);
});
