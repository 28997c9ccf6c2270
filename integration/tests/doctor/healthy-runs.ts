import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { runCommand } from '../../../src/commands/basis/testing/run-command.ts';
import { complaints } from '../../../src/commands/doctor/testing/examined-node.ts';
import { explainCommand } from '../../../src/commands/explain-command.ts';
import type { ModeName } from '../../../src/config/modes.ts';
import { agentInMode } from './agent-in-mode.ts';

export const RUNS = 100;
const QUESTIONS = [
  ['shop/web'],
  ['10.96.0.10:80', '--from', 'host'],
  ['[fd96::10]:80', '--from', 'outside'],
  ['192.0.2.1:30080', '--from', '203.0.113.9'],
] as const;

/** Asks `doctor` and `explain` so many times on a healthy node of one mode. */
export async function assertHealthyRuns(t: TestContext, mode: ModeName): Promise<void> {
  const { runFolder } = await agentInMode(t, mode);
  for (let count = 0; count < RUNS; count++) {
    assert.deepEqual(await complaints(runFolder), [], `doctor, run ${count}`);
    const question = QUESTIONS[count % QUESTIONS.length] ?? [];
    // The endpoints of this node are addresses without a host: a packet would prove that.
    const args = [...question, '--probe', 'none', '--run-folder', runFolder, '-o', 'json'];
    const { out, err } = await runCommand(t, explainCommand(), args);
    assert.deepEqual(out === '' ? [err] : faultsIn(out), [], `explain, run ${count}`);
  }
}

/** What `explain` complains of: not reaching, and anything that the agent has trouble with. */
function faultsIn(out: string): readonly string[] {
  const { code, sentence, agent } = JSON.parse(out);
  const troubles = agent.troubles.map(({ what }: { what: string }) => what);
  return [...(code === 'REACHES' ? [] : [`${code} ${sentence}`]), ...troubles];
}
