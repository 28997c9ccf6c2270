import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bucket, failureCount, parseBuckets, tallyPhases } from './tally.ts';

function bucket(at: number, of: Partial<Bucket> = {}): Bucket {
  return { at, target: 'a', attempted: 2, answered: 2, slowestMs: 1, failures: [], ...of };
}

test('attempts count for the phase in which they began', () => {
  const buckets = [
    bucket(0),
    bucket(99, { slowestMs: 7 }),
    bucket(100, { answered: 1, failures: ['x: ECONNREFUSED'] }),
    bucket(50, { target: 'b' }),
    bucket(200),
  ];
  const phases = [
    { title: 'one', from: 0, to: 100 },
    { title: 'two', from: 100, to: 200 },
  ];
  const results = tallyPhases(phases, buckets);
  const none = { failed: 0, slowestMs: 0, firstFailure: '' };
  assert.deepEqual(
    results.map(({ tallies }) => tallies),
    [
      [
        { target: 'a', attempted: 4, failed: 0, slowestMs: 7, firstFailure: '' },
        { target: 'b', attempted: 2, failed: 0, slowestMs: 1, firstFailure: '' },
      ],
      [
        { target: 'a', attempted: 2, failed: 1, slowestMs: 1, firstFailure: 'x: ECONNREFUSED' },
        { target: 'b', attempted: 0, ...none },
      ],
    ],
  );
  assert.equal(failureCount(results), 1);
});

test('a line that is half written is left for later', () => {
  const whole = JSON.stringify(bucket(1));
  assert.deepEqual(parseBuckets(`${whole}\n{"at":`), [bucket(1)]);
});
