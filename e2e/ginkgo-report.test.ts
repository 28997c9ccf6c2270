import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGinkgoReport } from './ginkgo-report.ts';

const it = (text: string, rest: object): object => ({
  LeafNodeType: 'It',
  LeafNodeText: text,
  ContainerHierarchyTexts: ['[sig-network] Services'],
  RunTime: 1_500_000_000,
  ...rest,
});

test('what ran and what skipped itself is a result; what was not chosen is none', () => {
  const report = [
    {
      SpecReports: [
        { LeafNodeType: 'SynchronizedBeforeSuite', State: 'passed', RunTime: 1 },
        it('passes', { State: 'passed', CapturedGinkgoWriterOutput: 'log' }),
        it('fails', { State: 'failed', Failure: { Message: 'no answer' } }),
        it('panics', { State: 'panicked', Failure: { Message: '', ForwardedPanic: 'nil' } }),
        it('skips itself', { State: 'skipped', Failure: { Message: 'not a pod' } }),
        it('was not chosen', { State: 'skipped' }),
      ],
    },
    { SpecReports: null },
  ];
  const rows = parseGinkgoReport(JSON.stringify(report)).map((spec) => [
    spec.name,
    spec.state,
    spec.seconds,
    spec.message,
    spec.output,
  ]);
  assert.deepEqual(rows, [
    ['[sig-network] Services passes', 'passed', 1.5, '', 'log'],
    ['[sig-network] Services fails', 'failed', 1.5, 'no answer', ''],
    ['[sig-network] Services panics', 'failed', 1.5, 'nil', ''],
    ['[sig-network] Services skips itself', 'skipped', 1.5, 'not a pod', ''],
  ]);
});
