import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LabError } from './errors.ts';
import { until } from './until.ts';

describe('until()', () => {
  it('gives the first answer that is one', async () => {
    const answers = [undefined, false as const, 'here'];
    const answer = await until(() => answers.shift(), {
      what: 'it',
      deadlineMs: 1_000,
      everyMs: 1,
    });
    assert.equal(answer, 'here');
  });

  it('takes zero for an answer', async () => {
    assert.equal(await until(() => 0, { what: 'it', deadlineMs: 10 }), 0);
  });

  it('gives up at its deadline and says what it waited for', async () => {
    const waiting = until(() => undefined, { what: 'rain', deadlineMs: 20, everyMs: 1 });
    await assert.rejects(waiting, (error: LabError) => {
      assert.equal(error.code, 'LAB_DEADLINE');
      assert.match(error.message, /waiting for rain after 20 ms/);
      return true;
    });
  });

  it('ends when it is aborted', async () => {
    const options = { what: 'it', deadlineMs: 10_000, signal: AbortSignal.abort() };
    await assert.rejects(
      until(() => undefined, options),
      { name: 'AbortError' },
    );
  });
});
