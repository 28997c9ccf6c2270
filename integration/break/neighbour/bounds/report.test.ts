import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BoundResult, CommandAnswer, VictimAnswer } from './answer.ts';
import { boundsReport } from './report.ts';
import { faultsOf } from './verdict.ts';

const answer: CommandAnswer = { tookMs: 400, exitCode: 0, text: 'ready' };
const unhurt: VictimAnswer = {
  made: 12_345,
  failed: 0,
  stalled: 0,
  slowestDirectMs: 20,
  open: 20,
  lost: 0,
  sticky: 20,
  strayed: 0,
  healthAsked: 100,
  healthBad: 0,
  slowestHealthMs: 200,
  status: answer,
  diff: answer,
};

function bound(victim: Partial<VictimAnswer> = {}, of: Partial<BoundResult> = {}): BoundResult {
  return {
    name: 'health clients',
    limit: '1,048,576',
    filledTo: '1,048,576',
    fillSeconds: 3,
    emptiedSeconds: 1,
    victim: { ...unhurt, ...victim },
    ...of,
  };
}

describe('faultsOf()', () => {
  it('finds nothing at a bound where nobody but the tenant noticed', () => {
    assert.deepEqual(faultsOf(bound({}, { isTold: true })), []);
  });

  it('finds each harm to the victim', () => {
    const late = { ...answer, exitCode: undefined, text: 'no answer in 10 s' };
    for (const harm of [
      { made: 0 },
      { failed: 1, example: 'reset' },
      { lost: 1, lostBy: 'closed' },
      { strayed: 1, strayedExample: 'left, then right' },
      { healthBad: 1, healthExample: '503' },
      { slowestHealthMs: 1_021 },
      { status: late },
      { diff: { ...answer, exitCode: 1 } },
    ]) {
      assert.equal(faultsOf(bound(harm)).length, 1, JSON.stringify(harm));
    }
  });

  it('takes clients that the kernel got for no harm where it takes over', () => {
    const strayed = { strayed: 1, strayedExample: 'left, then right' };
    assert.deepEqual(faultsOf(bound(strayed, { movesAffinity: true })), []);
  });

  it('takes a node that is not ready, and differences, for answers', () => {
    const three = { ...answer, exitCode: 3 };
    assert.deepEqual(faultsOf(bound({ status: three, diff: three })), []);
  });

  it('finds a bound that was not full, not told, not emptied, or could not be filled', () => {
    assert.equal(faultsOf(bound({}, { notFull: 'it took 3' })).length, 1);
    assert.equal(faultsOf(bound({}, { isTold: false })).length, 1);
    assert.equal(faultsOf(bound({}, { emptiedSeconds: Number.POSITIVE_INFINITY })).length, 1);
    const { victim: _, ...unasked } = bound();
    assert.deepEqual(faultsOf({ ...unasked, error: 'the API server is silent' }), [
      'the API server is silent',
    ]);
  });
});

describe('boundsReport()', () => {
  it('says first whether anybody was hurt, in no more than 80 columns', () => {
    const kept = { proxy: 'fairlead-userspace', seconds: 59.4, bounds: [bound()] };
    const [first, ...rest] = boundsReport(kept).split('\n');
    assert.equal(first, 'No neighbour was hurt at 1 bound: fairlead-userspace, 59 s.');
    assert.ok(Math.max(...rest.map((line) => line.length)) <= 80, rest.join('\n'));
    const hurt = { ...kept, bounds: [bound(), bound({ failed: 2 })] };
    assert.match(boundsReport(hurt), /^A neighbour WAS HURT at 1 of 2 bounds: /);
  });
});
