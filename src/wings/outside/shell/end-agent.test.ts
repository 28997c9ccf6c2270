import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { it } from 'node:test';
import { startDetached } from '../../../linux/start-detached.ts';
import { until } from '../../../time/testing/until.ts';
import { endAgent } from './inside.ts';

async function started(script: string) {
  return await startDetached({ command: 'sh', args: ['-c', script], descriptors: [] });
}

/** A process has the default action until its own code has run. */
async function untilIgnored(pid: number, signal: NodeJS.Signals): Promise<void> {
  const bit = 1n << BigInt(constants.signals[signal] - 1);
  await until(`process ${pid} to ignore ${signal}`, async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
    return (BigInt(`0x${ignored}`) & bit) !== 0n;
  });
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
  await untilIgnored(agent.pid, 'SIGTERM');
  await endAgent(agent, 1);
  assert.equal(await agent.ended, 'SIGKILL');
});
