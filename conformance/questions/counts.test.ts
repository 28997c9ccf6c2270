import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { notKept, notStickyBySource, sourcesOf, wrongCounts, wrongTimes } from './counts.ts';
import type { Outcome } from './outcome.ts';

/** `a×3` is three answers of `a`; `a<1` is one of `a` to source 1. */
function outcomes(...texts: string[]): Outcome[] {
  return texts.flatMap((text) => {
    const [by = '', times = '1'] = text.split('×');
    const [pod = '', source = '0'] = by.split('<');
    return Array.from({ length: Number(times) }, () => ({
      kind: 'answered' as const,
      by: pod,
      source,
    }));
  });
}

describe('wrongTimes', () => {
  it('is satisfied by exactly these counts', () => {
    assert.equal(wrongTimes({ a: 1, b: 2 }, outcomes('a', 'b×2')), undefined);
  });

  it('finds one too many, one too few, and a pod that was not named', () => {
    assert.equal(wrongTimes({ a: 1, b: 2 }, outcomes('a×2', 'b')), 'a answered 2 times');
    assert.equal(wrongTimes({ a: 1, b: 2 }, outcomes('a', 'b')), 'b answered 1 times');
    assert.equal(wrongTimes({ a: 1 }, outcomes('a', 'c')), 'c answered 1 times');
  });

  it('finds a connection without an answer', () => {
    assert.equal(
      wrongTimes({ a: 1 }, [...outcomes('a'), { kind: 'silent' }]),
      'some had no answer',
    );
  });
});

describe('wrongCounts', () => {
  const wanted = { answeredCounts: [5, 2, 2], by: ['a', 'b', 'c'] };

  it('does not mind which pod has which count', () => {
    assert.equal(wrongCounts(wanted, outcomes('a×2', 'b×5', 'c×2')), undefined);
  });

  it('finds other counts, and other pods', () => {
    assert.equal(wrongCounts(wanted, outcomes('a×3', 'b×3', 'c×3')), 'they answered 3, 3, 3 times');
    assert.match(wrongCounts(wanted, outcomes('a×5', 'b×2', 'x×2')) ?? '', /x should not/);
  });
});

describe('notStickyBySource', () => {
  it('wants one pod for each source, and every pod for all of them', () => {
    const pods = ['a', 'b'];
    assert.equal(notStickyBySource(pods, outcomes('a<1×3', 'b<2×2')), undefined);
    assert.match(notStickyBySource(pods, outcomes('a<1', 'b<1')) ?? '', /1 met more than one pod/);
    assert.match(notStickyBySource(pods, outcomes('a<1', 'a<2')) ?? '', /b never answered/);
    assert.match(notStickyBySource(['a'], outcomes('a<1', 'b<2')) ?? '', /b should not/);
  });
});

describe('notKept', () => {
  const noted = sourcesOf(outcomes('a<1', 'a<2', 'b<3', 'b<4', 'c<5'));
  const wanted = { lost: 'c', moved: 0.25 };

  it('lets the sources of the lost pod move, and few others', () => {
    assert.equal(notKept(wanted, noted, outcomes('a<1', 'a<2', 'b<3', 'a<4', 'b<5')), undefined);
  });

  it('finds too many others that moved', () => {
    const moved = outcomes('b<1', 'a<2', 'b<3', 'a<4', 'b<5');
    assert.equal(notKept(wanted, noted, moved), '2 of 4 other sources moved');
  });

  it('finds a source that still meets the lost pod, or was not asked again', () => {
    const stayed = outcomes('a<1', 'a<2', 'b<3', 'b<4', 'c<5');
    assert.equal(notKept(wanted, noted, stayed), '5 still meets c');
    assert.match(notKept(wanted, noted, outcomes('a<1')) ?? '', /not all sources/);
  });

  it('says when no source had met the lost pod, which would prove nothing', () => {
    const without = sourcesOf(outcomes('a<1', 'b<2'));
    assert.match(notKept(wanted, without, outcomes('a<1', 'b<2')) ?? '', /no source had met c/);
  });
});
