import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { tryRun } from '../../../lab/host/run.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const DEADLINE_MS = 60_000;

/** A command, as a line of the shell; `fairlead` stands for the program. */
async function shell(line: string) {
  const script = `main=$1; fairlead() { "$0" "$main" "$@"; }; ${line}`;
  return await tryRun(['bash', '-c', script, process.execPath, MAIN], { deadlineMs: DEADLINE_MS });
}

it('a command fails when its output is lost', async () => {
  const { exitCode, stderr } = await shell('fairlead config --reference >/dev/full');
  assert.equal(exitCode, 1);
  assert.equal(stderr, 'cannot write the output: ENOSPC\n');
});

it('a command is content with a reader that has seen enough', async () => {
  const { exitCode, stdout, stderr } = await shell(
    'fairlead config --schema | head -1; exit "${PIPESTATUS[0]}"',
  );
  assert.deepEqual({ exitCode, stdout, stderr }, { exitCode: 0, stdout: '{\n', stderr: '' });
});

it('a command fails as before when standard error is closed, full or gone', async () => {
  for (const redirection of ['2>&-', '2>/dev/full', '2> >(true)']) {
    const { exitCode } = await shell(`fairlead status --run-folder /nowhere ${redirection}`);
    assert.equal(exitCode, 1, redirection);
  }
});
