import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { partsMarkdown, summaryJson, summaryTable, verdictLines } from './report.ts';
import { judged, type Summary } from './results.ts';
import { slownessOf } from './slowness.ts';

const LONGEST_NAME = 'n'.repeat(36);

const SUMMARY: Summary = {
  plan: 'run',
  commit: 'abc',
  cold: [],
  slowness: 1,
  results: [
    judged('checks', { seconds: 7.04 }, 30),
    judged(LONGEST_NAME, { seconds: 10_000 }, 90),
    judged('oracle', { seconds: 3, failure: 'exit code 1' }, 20),
  ],
  notRun: ['bench'],
};

describe('summaryTable', () => {
  it('is aligned, within 80 columns, and ends with the sum', () => {
    const lines = summaryTable(SUMMARY).split('\n');
    assert.ok(Math.max(...lines.map((line) => line.length)) <= 80);
    assert.match(lines[0] ?? '', /^part +seconds +budget +used +share +result$/);
    assert.match(lines[1] ?? '', /^checks +7\.0 +30 +23 % +0 % +passed$/);
    assert.match(lines[2] ?? '', / +10000\.0 +90 +11111 % +100 % +FAILED$/);
    assert.match(lines.at(-1) ?? '', /^all +10010\.0 +140 /);
    assert.equal(
      new Set(lines.slice(0, 4).map((line) => line.search(/(result|passed|FAILED)$/))).size,
      1,
    );
  });
});

describe('verdictLines', () => {
  it('names every failure, and the first of them in the last line', () => {
    assert.deepEqual(verdictLines(SUMMARY), [
      `${LONGEST_NAME}: over its budget: 10000.0 s of 90 s`,
      'oracle: exit code 1',
      `.ci/run: FAILED in: ${LONGEST_NAME} (over its budget: 10000.0 s of 90 s), and 1 more`,
    ]);
  });

  it('does not call a run complete that left parts out', () => {
    const results = SUMMARY.results.slice(0, 1);
    assert.deepEqual(verdictLines({ ...SUMMARY, results }), [
      '.ci/run: 1 parts passed in 0.1 min, 1 not run',
    ]);
  });
});

describe('summaryJson', () => {
  it('has each part with its share, and the first failure by name', () => {
    const kept = JSON.parse(summaryJson(SUMMARY));
    assert.equal(kept.failed, LONGEST_NAME);
    assert.deepEqual(kept.parts[0], {
      name: 'checks',
      seconds: 7.04,
      budgetSeconds: 30,
      shareOfBudget: 0.235,
      shareOfTotal: 0.001,
    });
  });
});

describe('partsMarkdown', () => {
  it('shows the command as it can be typed, with what it took', () => {
    const part = {
      name: 'oracle',
      about: 'policy',
      command: ['npm', 'run', 'compare', '--', 'oracle', '--only', '^(a|b)$'],
      plans: ['run'],
      budget: { cached: 20, cold: 90 },
    } as const;
    assert.equal(
      partsMarkdown([part], SUMMARY.results).split('\n')[2],
      "| `oracle`: policy<br>`npm run compare -- oracle --only '^(a\\|b)$'` | 3 | 20 | 90 |",
    );
  });
});

describe('slownessOf', () => {
  it('is the median against the reference, and never below 1 or above 2', () => {
    assert.equal(slownessOf([100, 100, 9_000]), 1);
    assert.equal(slownessOf([100, 9_000, 9_000]), 2);
    const [low, high] = [slownessOf([550]), slownessOf([800])];
    assert.ok(low > 1 && low < high && high < 2, `${low}, ${high}`);
  });
});
