import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { startDaemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { runningInstance } from '../../../src/commands/run/one-instance.ts';

const HOLDER = join(import.meta.dirname, 'lock-holder.ts');

it('cleanup can tell that an agent runs here, and that it has ended', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-running-'));
  t.after(() => rm(folder, { recursive: true }));
  const running = () => runningInstance({ runFolder: folder, machineFolder: folder });
  assert.equal(running(), undefined);
  const holder = startDaemon({
    name: 'the holder of the lock',
    namespacePath: `/proc/${process.pid}/ns/net`,
    argv: [process.execPath, HOLDER, folder],
    logFile: join(folder, 'log'),
  });
  try {
    const found = await until(running, { what: 'the lock to be held', deadlineMs: 30_000 });
    assert.equal(found, `pid ${holder.pid}`);
  } finally {
    await holder.kill();
  }
  assert.equal(running(), undefined);
});
