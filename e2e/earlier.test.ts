import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeRuns } from './earlier.ts';
import type { ProxyResults, SpecState } from './result.ts';

function run(proxy: string, states: Readonly<Record<string, SpecState>>): ProxyResults {
  const specs = Object.entries(states).map(([name, state]) => ({
    name,
    state,
    seconds: 1,
    message: '',
    output: '',
  }));
  return { proxy, isUpstream: false, specs, upSeconds: 20, runSeconds: 100 };
}

test('a later run of some specs replaces their results, but for failures, and keeps the others', () => {
  const merged = mergeRuns([
    run('one', { a: 'failed', b: 'skipped', d: 'passed' }),
    run('two', { a: 'passed' }),
    run('one', { a: 'passed', b: 'passed', c: 'skipped', d: 'failed' }),
  ]);
  const states = merged.map(({ proxy, specs }) => [proxy, specs.map((s) => [s.name, s.state])]);
  assert.deepEqual(states, [
    [
      'one',
      [
        ['a', 'failed'],
        ['b', 'passed'],
        ['d', 'failed'],
        ['c', 'skipped'],
      ],
    ],
    ['two', [['a', 'passed']]],
  ]);
  assert.equal(merged[0]?.runSeconds, 200);
});
