import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startDetached } from '../../linux/start-detached.ts';
import { endAgent } from './end-agent.ts';

async function started(script: string) {
  return await startDetached({ command: 'sh', args: ['-c', script], descriptors: [] });
}

/** A process has the default action until its own code has run. */
async function untilIgnored(pid: number, signal: NodeJS.Signals): Promise<void> {
  const bit = 1n << BigInt(constants.signals[signal] - 1);
  const giveUpAtMs = performance.now() + 10_000;
  while (performance.now() < giveUpAtMs) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
    if ((BigInt(`0x${ignored}`) & bit) !== 0n) return;
    await pause(5);
  }
  assert.fail(`process ${pid} does not ignore ${signal}`);
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
