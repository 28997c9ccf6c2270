import assert from 'node:assert/strict';
import { mkdtemp, rm, watch } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Command, type Outcome, runCommand } from './run.ts';

const NEVER = new AbortController().signal;

function runNode(script: string, limits: Partial<Command> = {}): Promise<Outcome> {
  return runCommand({
    program: process.execPath,
    args: ['--eval', script],
    folder: import.meta.dirname,
    timeoutMs: 30_000,
    signal: NEVER,
    ...limits,
  });
}

const ENDLESS = 'setInterval(() => {}, 1000)';

describe('runCommand', () => {
  it('keeps the output of both streams', async () => {
    const { ok, output } = await runNode('console.log("out"); console.error("err")');
    assert.equal(ok, true);
    assert.deepEqual(output.trim().split('\n').sort(), ['err', 'out']);
  });

  it('fails when the program fails', async () => {
    const { ok, output } = await runNode('console.log("why"); process.exit(3)');
    assert.equal(ok, false);
    assert.equal(output, 'why\n');
  });

  it('ends a program at its deadline and says so', async () => {
    const { ok, output } = await runNode(ENDLESS, { timeoutMs: 300 });
    assert.equal(ok, false);
    assert.match(output, /stopped: TimeoutError/);
  });

  it('stops a program, and what the program started, when aborted', {
    timeout: 10_000,
  }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-run-'));
    t.after(() => rm(folder, { recursive: true }));
    const grandchild = `require('node:fs').writeFileSync('started', ''); ${ENDLESS}`;
    const child = `require('node:child_process').spawn(process.execPath,
      ['--eval', ${JSON.stringify(grandchild)}], { stdio: 'inherit' })`;

    const stop = new AbortController();
    const started = watch(folder, { signal: t.signal })[Symbol.asyncIterator]().next();
    const running = runNode(child, { folder, signal: stop.signal });
    await started;
    stop.abort();

    // Had the grandchild lived on, it would hold the pipe open and this would not return.
    const { ok, output } = await running;
    assert.equal(ok, false);
    assert.match(output, /stopped: AbortError/);
  });

  it('fails when there is no such program', async () => {
    const { ok, output } = await runCommand({
      program: 'fairlead-no-such-program',
      args: [],
      folder: import.meta.dirname,
      timeoutMs: 1000,
      signal: NEVER,
    });
    assert.equal(ok, false);
    assert.match(output, /could not be started/);
  });
});
