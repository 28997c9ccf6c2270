import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startDetached } from '../../linux/start-detached.ts';
import { endAgent } from './end-agent.ts';

async function started(script: string) {
  return await startDetached({ command: 'sh', args: ['-c', script], descriptors: [] });
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

it('leaves no timer behind, which would keep the process until it fires', async () => {
  const before = timers();
  const agent = await started('exec sleep 600');
  await endAgent(agent);
  assert.equal(await agent.ended, 'SIGTERM');
  assert.equal(timers(), before);
});

it('kills an agent that does not end', async () => {
  const agent = await started('trap "" TERM; exec sleep 600');
  await endAgent(agent, 1);
  assert.equal(await agent.ended, 'SIGKILL');
});
