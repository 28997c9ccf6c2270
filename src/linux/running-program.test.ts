import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RunningProgram } from './running-program.ts';

const SOON_MS = 10_000;

describe('RunningProgram', () => {
  it('gives what the program says, and runs until it is stopped', async () => {
    const running = RunningProgram.start('sh', ['-c', 'echo a; echo port 4711; exec cat']);
    assert.equal((await running.says(/port (\d+)\n/, SOON_MS))?.[1], '4711');
    await running.stop();
    assert.equal((await running.ended).exitCode, 128);
  });

  it('knows that a program ended before it said anything, and what it complained of', async () => {
    const running = RunningProgram.start('sh', ['-c', 'echo no >&2; exit 3']);
    assert.equal(await running.says(/port/, SOON_MS), undefined);
    assert.deepEqual(await running.ended, { exitCode: 3, stderr: 'no\n' });
  });

  it('gives up a program that says nothing', async () => {
    const running = RunningProgram.start('cat', []);
    assert.equal(await running.says(/port/, 20), undefined);
    await running.stop();
  });

  it('kills a program that does not end when it is told to', async () => {
    const script = "trap '' TERM; echo ready; while :; do sleep 0.1; done";
    const running = RunningProgram.start('sh', ['-c', script]);
    await running.says(/ready/, SOON_MS);
    await running.stop();
  });

  it('fails where there is no such program', async () => {
    const running = RunningProgram.start('/nowhere/kubectl', []);
    assert.equal(await running.says(/port/, SOON_MS), undefined);
    await assert.rejects(running.ended, { code: 'ENOENT' });
  });
});
