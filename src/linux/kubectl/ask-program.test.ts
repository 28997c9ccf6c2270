import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { askProgram } from './ask-program.ts';

const shell = (script: string, more: { input?: string; timeoutMs?: number } = {}) =>
  askProgram({ command: 'sh', args: ['-c', script], timeoutMs: 10_000, ...more });

describe('askProgram()', () => {
  it('gives both outputs and the exit code', async () => {
    assert.deepEqual(await shell('echo out; echo err >&2; exit 3'), {
      ended: true,
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it('passes the input, also to a program that does not read it', async () => {
    const read = await shell('cat', { input: 'given' });
    assert.equal(read.ended && read.stdout, 'given');
    const unread = await shell('true', { input: 'x'.repeat(1_000_000) });
    assert.equal(unread.ended && unread.exitCode, 0);
  });

  it('kills it at its deadline, and does not wait for what it started', async () => {
    const answer = await shell('sleep 60 & wait', { timeoutMs: 50 });
    assert.deepEqual(answer, { ended: false, why: 'late' });
  });

  it('kills it when the signal is aborted, and starts none after that', async () => {
    const stop = new AbortController();
    const question = { command: 'sleep', args: ['60'], timeoutMs: 10_000, signal: stop.signal };
    const asked = askProgram(question);
    stop.abort();
    assert.deepEqual(await asked, { ended: false, why: 'interrupted' });
    assert.deepEqual(await askProgram(question), { ended: false, why: 'interrupted' });
  });

  it('rejects where there is no such program', async () => {
    const question = { command: '/nonexistent', args: [], timeoutMs: 1000 };
    await assert.rejects(askProgram(question), { code: 'ENOENT' });
  });
});
