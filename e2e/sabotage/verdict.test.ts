import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProxyResults, SpecState } from '../result.ts';
import type { Sabotage } from './catalogue.ts';
import { judgeSabotage } from './verdict.ts';

const SABOTAGE: Sabotage = { name: 's', title: 't', specs: 'Services', replace: 'a', by: 'b' };

function results(states: Readonly<Record<string, SpecState>>): ProxyResults {
  const specs = Object.entries(states).map(([name, state]) => {
    return { name: `[sig-network] ${name}`, state, seconds: 1, message: 'why\nmore', output: '' };
  });
  return { proxy: 'p', isUpstream: false, specs, upSeconds: 1, runSeconds: 2 };
}

function verdict(
  healthy: Readonly<Record<string, SpecState>>,
  planted: Readonly<Record<string, SpecState>>,
) {
  const { caught, reason } = judgeSabotage(SABOTAGE, {
    healthy: results(healthy),
    planted: results(planted),
  });
  return { caught, reason };
}

test('one spec that fails with the fault is enough', () => {
  assert.deepEqual(
    verdict(
      { 'Services a': 'passed', 'Services b': 'passed', other: 'failed' },
      { 'Services a': 'passed', 'Services b': 'failed' },
    ),
    { caught: true, reason: 'why' },
  );
});

test('is not caught when a spec fails without the fault too', () => {
  const failed = { 'Services a': 'failed' } as const;
  assert.equal(verdict(failed, failed).caught, false);
  assert.equal(verdict({ 'Services a': 'skipped' }, failed).caught, false);
  assert.equal(verdict({}, failed).caught, false);
});

test('is missed when every spec passes', () => {
  const passed = { 'Services a': 'passed' } as const;
  assert.equal(verdict(passed, passed).caught, false);
});
