import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ScenarioResult } from '../../../conformance/runner/run-scenario.ts';
import { compareKernels, comparisonMarkdown } from './differences.ts';

function answer(scenario: string, result: ScenarioResult['result'], reason = ''): ScenarioResult {
  return { scenario, proxy: 'fairlead-nftables', result, reason, milliseconds: 1 };
}

function compared(here: readonly ScenarioResult[], there: readonly ScenarioResult[]) {
  return compareKernels({ kernel: '6.18', results: here }, { kernel: '6.1', results: there });
}

describe('compareKernels', () => {
  it('lists no scenario that both kernels answer alike', () => {
    const same = [answer('a/b', 'pass'), answer('c/d', 'known-difference', 'by design')];
    const { differences, proxies } = compared(same, same);
    assert.deepEqual(differences, []);
    assert.deepEqual(proxies, [{ proxy: 'fairlead-nftables', asked: 2, same: 2 }]);
  });

  it('lists one that fails or is not asked in one of them, with the reason', () => {
    const { differences } = compared(
      [answer('a/b', 'pass'), answer('sctp/x', 'not-asked', 'the kernel has no SCTP sockets')],
      [answer('a/b', 'fail', 'step 1: silent'), answer('sctp/x', 'pass')],
    );
    assert.deepEqual(
      differences.map(({ scenario, answers, reason }) => [scenario, ...answers, reason]),
      [
        ['a/b', 'pass', 'fail', 'step 1: silent'],
        ['sctp/x', 'not asked', 'pass', 'the kernel has no SCTP sockets'],
      ],
    );
  });

  it('lists one that only one of them was given', () => {
    const { differences } = compared([answer('a/b', 'pass')], []);
    assert.deepEqual(differences[0]?.answers, ['pass', 'not given']);
  });

  it('does not compare the texts of failures, which hold addresses', () => {
    const { differences } = compared(
      [answer('a/b', 'fail', '10.0.0.1 was silent')],
      [answer('a/b', 'fail', '10.0.0.2 was silent')],
    );
    assert.deepEqual(differences, []);
  });
});

describe('comparisonMarkdown', () => {
  it('has a row for each proxy and each difference', () => {
    const comparison = compared([answer('a/b', 'pass')], [answer('a/b', 'fail', 'a | b')]);
    const text = comparisonMarkdown(comparison);
    assert.ok(text.includes('| fairlead-nftables | 1 | 0 | 1 |'));
    assert.ok(text.includes('| `a/b` | fairlead-nftables | pass | fail | a \\| b |'));
  });
});
