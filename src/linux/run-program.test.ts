import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runProgramToEnd } from './run-program.ts';

const CALL = { command: 'sh', args: [] as string[], env: {}, timeoutMs: 10_000 };

it('returns the output and the exit status of a program', async () => {
  const args = ['-c', 'echo "$WORD"; exit 3'];
  const result = await runProgramToEnd({ ...CALL, args, env: { WORD: 'hello' } });
  assert.deepEqual(result, { exitCode: 3, stdout: 'hello\n' });
});

it('kills a program at its timeout', async () => {
  const args = ['-c', 'exec sleep 60'];
  const { exitCode } = await runProgramToEnd({ ...CALL, args, timeoutMs: 50 });
  assert.equal(exitCode, null);
});

it('kills a program that writes too much', async () => {
  const { exitCode } = await runProgramToEnd({ ...CALL, command: 'yes' });
  assert.equal(exitCode, null);
});

it('reports that the program does not exist', async () => {
  await assert.rejects(runProgramToEnd({ ...CALL, command: 'no-such-program' }), {
    code: 'ENOENT',
  });
});
