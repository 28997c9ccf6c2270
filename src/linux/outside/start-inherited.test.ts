import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startInherited } from './start-inherited.ts';

async function endOf(script: string): Promise<number> {
  const { ended } = await startInherited({ command: 'sh', args: ['-c', script] });
  return await ended;
}

it('ends with the exit code of the program', async () => {
  assert.equal(await endOf('exit 7'), 7);
});

it('ends with 128 and the number of the signal', async () => {
  assert.equal(await endOf('kill -INT $$'), 130);
  assert.equal(await endOf('kill -TERM $$'), 143);
  assert.equal(await endOf('kill -KILL $$'), 137);
});
