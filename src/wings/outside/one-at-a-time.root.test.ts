import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { runProgramToEnd } from '../../linux/run-program.ts';
import { oneAtATime } from './one-at-a-time.ts';

const MODULE = join(import.meta.dirname, 'one-at-a-time.ts');
const HERE = '/';

async function lockFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-lock-'));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, 'lock');
}

/** Another process that does the work; prints its result, or the error. */
async function elsewhere(path: string, work: string, root = HERE): Promise<string> {
  const script = `import { oneAtATime } from ${JSON.stringify(MODULE)};
    try {
      console.log(await oneAtATime('${root}', async () => ${work}, ${JSON.stringify(path)}));
    } catch (error) { console.log(error.code, error.message); }`;
  const args = ['--input-type=module', '-e', script];
  const call = { command: process.execPath, args, env: {}, timeoutMs: 60_000 };
  return (await runProgramToEnd(call)).stdout.trim();
}

it('keeps another process out until the work has ended', async (t) => {
  const path = await lockFile(t);
  await oneAtATime(
    HERE,
    async () => {
      assert.equal(
        await elsewhere(path, '"done"'),
        `OUTSIDE_BUSY another fairlead outside (pid ${process.pid}) is changing this machine`,
      );
      assert.equal(await elsewhere(path, '"done"', '/another/root'), 'done');
    },
    path,
  );
  assert.equal(existsSync(path), false);
  assert.equal(await elsewhere(path, '"done"'), 'done');
  assert.equal(existsSync(path), false);
});

it('is free after a process was killed', async (t) => {
  const path = await lockFile(t);
  await elsewhere(path, 'process.kill(process.pid, "SIGKILL")');
  assert.equal(existsSync(path), true);
  assert.equal(await oneAtATime(HERE, async () => 'done', path), 'done');
});

it('is free after the work failed', async (t) => {
  const path = await lockFile(t);
  const fail = async () => {
    throw new RangeError('no');
  };
  await assert.rejects(oneAtATime(HERE, fail, path), RangeError);
  assert.equal(existsSync(path), false);
});
