import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from '../scenario.ts';
import { judge } from './judge.ts';
import type { Outcome } from './outcome.ts';

const circumstances = {
  family: 'ipv4',
  processors: 2,
  sources: { own: ['10.0.0.9'], node: ['172.30.1.1'] },
} as const;
const by = (pod: string, source = '10.0.0.9'): Outcome => ({ kind: 'answered', by: pod, source });
const refusedAfter = (afterMs: number): Outcome => ({ kind: 'refused', afterMs });
const silence: Outcome = { kind: 'silent' };

/** Every kind of answer, one set of outcomes that it accepts, and ones that it must not. */
const cases: readonly { expect: Answer; right: Outcome[]; wrong: Record<string, Outcome[]> }[] = [
  {
    expect: { answeredBy: ['a', 'b'], source: 'own' },
    right: [by('a'), by('b'), by('a')],
    wrong: {
      'an endpoint never answers': [by('a'), by('a')],
      'another pod answers': [by('a'), by('b'), by('c')],
      'one connection fails': [by('a'), by('b'), silence],
      'the source is translated': [by('a'), by('b', '172.30.1.1')],
      'nothing was asked': [],
    },
  },
  {
    expect: { answeredBy: ['a'], source: 'node' },
    right: [by('a', '172.30.1.1')],
    wrong: { 'the source is not translated': [by('a')] },
  },
  {
    expect: { answeredOrSilent: ['a'] },
    right: [by('a'), silence, by('a')],
    wrong: {
      'none is answered': [silence, silence],
      'another pod answers': [by('a'), by('b'), silence],
      'one is refused': [by('a'), refusedAfter(2), silence],
    },
  },
  {
    expect: { answeredOrRefused: ['a'] },
    right: [by('a'), refusedAfter(2), by('a')],
    wrong: {
      'none is refused': [by('a'), by('a')],
      'none is answered': [refusedAfter(2), refusedAfter(2)],
      'another pod answers': [by('a'), by('b'), refusedAfter(2)],
      'one is silent': [by('a'), refusedAfter(2), silence],
    },
  },
  {
    expect: { sharedBy: ['a', 'b'], of: 'b', share: { atMost: 1 / 4 } },
    right: [by('a'), by('a'), by('b'), by('a')],
    wrong: {
      'it gets more': [by('a'), by('a'), by('b'), by('a'), by('b')],
      'it never answers': [by('a'), by('a')],
      'one connection fails': [by('a'), by('a'), by('a'), by('b'), silence],
    },
  },
  {
    expect: { sharedBy: ['a', 'b'], of: 'b', share: { moreThan: 1 / 4 } },
    right: [by('a'), by('b')],
    wrong: { 'it gets no more': [by('a'), by('a'), by('b'), by('a')] },
  },
  {
    expect: { stickyTo: ['a', 'b'] },
    right: [by('b'), by('b')],
    wrong: {
      'the client moves': [by('a'), by('b')],
      'it sticks to another pod': [by('c'), by('c')],
      'one connection fails': [by('a'), silence],
    },
  },
  {
    expect: { refused: true },
    right: [refusedAfter(3), refusedAfter(990)],
    wrong: {
      'a rejection comes late': [refusedAfter(3), refusedAfter(1_020)],
      'one is silent': [refusedAfter(3), silence],
      'one is answered': [by('a')],
    },
  },
  {
    expect: { echoed: true },
    right: [{ kind: 'echoed' }, { kind: 'echoed' }],
    wrong: {
      'one is silent': [{ kind: 'echoed' }, silence],
      'one is refused': [{ kind: 'echoed' }, refusedAfter(2)],
    },
  },
  {
    expect: { spreadOver: 'crowd', numbers: { from: 1, to: 2 } },
    right: Array.from({ length: 100 }, (_, i) => by(`crowd#${1 + (i % 2)}`)),
    wrong: { 'one endpoint gets all': Array.from({ length: 100 }, () => by('crowd#1')) },
  },
  {
    expect: { reset: true },
    right: [{ kind: 'failed', code: 'ECONNRESET' }],
    wrong: {
      'one is refused': [{ kind: 'failed', code: 'ECONNRESET' }, refusedAfter(2)],
      'one fails otherwise': [{ kind: 'failed', code: 'closed without an answer' }],
      'one is answered': [{ kind: 'failed', code: 'ECONNRESET' }, by('a')],
    },
  },
  {
    expect: { silent: true },
    right: [silence, silence],
    wrong: { 'one is refused': [silence, refusedAfter(2)], 'one is answered': [by('a')] },
  },
  {
    expect: { unserved: true },
    right: [silence, refusedAfter(2), { kind: 'failed', code: 'EHOSTUNREACH' }],
    wrong: {
      'one is answered': [silence, by('a')],
      'one is echoed': [silence, { kind: 'echoed' }],
    },
  },
  {
    expect: { status: 200, localEndpoints: 2 },
    right: [{ kind: 'status', status: 200, body: '{"localEndpoints": 2}' }],
    wrong: {
      'the status differs': [{ kind: 'status', status: 503, body: '{"localEndpoints": 2}' }],
      'the count differs': [{ kind: 'status', status: 200, body: '{"localEndpoints": 1}' }],
      'the port is closed': [refusedAfter(1)],
    },
  },
];

describe('judge()', () => {
  for (const { expect, right, wrong } of cases) {
    const name = JSON.stringify(expect);
    it(`accepts what fits ${name}`, () => {
      assert.equal(judge(expect, right, circumstances), undefined);
    });
    for (const [why, outcomes] of Object.entries(wrong)) {
      it(`rejects ${name} when ${why}`, () => {
        assert.match(judge(expect, outcomes, circumstances) ?? '', /^expected /);
      });
    }
  }

  it('grants IPv6 one retransmission before a rejection, unless the question does not', () => {
    const ipv6 = { ...circumstances, family: 'ipv6' as const };
    assert.equal(judge({ refused: true }, [refusedAfter(1_020)], ipv6), undefined);
    assert.ok(judge({ refused: true, withinMs: 1_000 }, [refusedAfter(1_020)], ipv6));
    assert.ok(judge({ refused: true, notBeforeMs: 900 }, [refusedAfter(2)], ipv6));
  });

  it('does not judge on one processor how soon a rejection comes, only that it comes', () => {
    const one = { ...circumstances, processors: 1 };
    assert.equal(judge({ refused: true }, [refusedAfter(2_400)], one), undefined);
    assert.ok(judge({ refused: true }, [silence], one));
  });

  it('counts steal time as elapsed, but not as lateness', () => {
    const outcome: Outcome = { kind: 'refused', afterMs: 1_400, stolenMs: 600 };
    assert.equal(judge({ refused: true, withinMs: 900 }, [outcome], circumstances), undefined);
    assert.equal(judge({ refused: true, notBeforeMs: 900 }, [outcome], circumstances), undefined);
    assert.ok(judge({ refused: true, withinMs: 700 }, [outcome], circumstances));
  });
});
