import assert from 'node:assert/strict';
import { it } from 'node:test';
import { good, problem } from './basic-finding.ts';
import { type Check, runChecks } from './run-checks.ts';

it('runChecks() names the checks that a person waits for', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { promise, resolve } = Promise.withResolvers<void>();
  const checks: readonly Check<undefined>[] = [
    { name: 'quick', run: async () => [good('done')] },
    { name: 'slow', run: () => promise.then(() => [good('done')]) },
  ];
  const slow: (readonly string[])[] = [];
  const running = runChecks(checks, undefined, {
    deadlineMs: 60_000,
    late: () => problem('late'),
    failed: () => problem('failed'),
    onSlow: (names) => slow.push(names),
  });
  await new Promise((next) => setImmediate(next));
  t.mock.timers.tick(1_000);
  resolve();
  const found = (await running).map(({ check, level }) => `${check} ${level}`);
  assert.deepEqual([slow, found], [[['slow']], ['quick ok', 'slow ok']]);
});
