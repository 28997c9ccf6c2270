import { systemCode } from '../../../cluster/errors.ts';
import type { DetachedProcess } from '../../../linux/start-detached.ts';
import { sleep } from '../../../time/sleep.ts';

const END_MS = 5_000;

/** SIGTERM, and SIGKILL if it takes too long. Leaves no timer that would keep this process. */
export async function endAgent(agent: DetachedProcess, patienceMs = END_MS): Promise<void> {
  kill(agent.pid, 'SIGTERM');
  const over = new AbortController();
  const isEnded = await Promise.race([
    agent.ended.then(() => true),
    sleep(patienceMs, over.signal),
  ]);
  over.abort();
  if (isEnded !== true) kill(agent.pid, 'SIGKILL');
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}
