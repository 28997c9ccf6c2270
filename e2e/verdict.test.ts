import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProxyResults, SpecState } from './result.ts';
import { ownFailures } from './verdict.ts';

function results(proxy: string, states: Readonly<Record<string, SpecState>>): ProxyResults {
  const specs = Object.entries(states).map(([name, state]) => ({
    name,
    state,
    seconds: 1,
    message: '',
    output: '',
  }));
  const isUpstream = proxy.startsWith('upstream');
  return { proxy, isUpstream, specs, upSeconds: 0, runSeconds: 0 };
}

test('a failure counts when upstream passes the spec', () => {
  const runs = [
    results('upstream', { a: 'passed', b: 'failed', c: 'failed' }),
    results('fairlead', { a: 'failed', b: 'failed', c: 'passed' }),
  ];
  assert.deepEqual(ownFailures(runs), [{ proxy: 'fairlead', spec: 'a' }]);
});

test('one variant of upstream that passes is enough', () => {
  const runs = [
    results('upstream-1', { a: 'failed' }),
    results('upstream-2', { a: 'passed' }),
    results('fairlead', { a: 'failed' }),
  ];
  assert.deepEqual(ownFailures(runs), [{ proxy: 'fairlead', spec: 'a' }]);
});

test('without upstream in the run every failure counts', () => {
  const runs = [results('fairlead', { a: 'failed', b: 'skipped', c: 'passed' })];
  assert.deepEqual(ownFailures(runs), [{ proxy: 'fairlead', spec: 'a' }]);
});

test('counts failures of upstream when it runs alone: the cluster may be at fault', () => {
  const runs = [results('upstream', { a: 'failed' })];
  assert.deepEqual(ownFailures(runs), [{ proxy: 'upstream', spec: 'a' }]);
});
