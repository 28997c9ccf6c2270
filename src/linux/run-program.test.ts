import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runProgramToEnd } from './run-program.ts';

const CALL = { command: 'sh', args: [] as string[], env: {}, timeoutMs: 10_000 };

it('gives what a program wrote and how it ended', async () => {
  const args = ['-c', 'echo "$WORD"; exit 3'];
  const result = await runProgramToEnd({ ...CALL, args, env: { WORD: 'hello' } });
  assert.deepEqual(result, { exitCode: 3, stdout: 'hello\n' });
});

it('ends a program that takes too long', async () => {
  const args = ['-c', 'exec sleep 60'];
  const { exitCode } = await runProgramToEnd({ ...CALL, args, timeoutMs: 50 });
  assert.equal(exitCode, null);
});

it('ends a program that does not stop writing', async () => {
  const { exitCode } = await runProgramToEnd({ ...CALL, command: 'yes' });
  assert.equal(exitCode, null);
});

it('says that there is no such program', async () => {
  await assert.rejects(runProgramToEnd({ ...CALL, command: 'no-such-program' }), {
    code: 'ENOENT',
  });
});
