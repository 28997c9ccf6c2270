import type { Family } from '../../lab/network/plan.ts';
import type { Answer, SeenSource, Share } from '../scenario.ts';
import { notKept, notStickyBySource, wrongCounts, wrongTimes } from './counts.ts';
import { describeOutcome, type Outcome } from './outcome.ts';
import { unevenSpread } from './spread.ts';

/** What "own" and "node" mean for the question at hand, and the family it is asked in. */
export interface Circumstances {
  readonly sources: Readonly<Record<SeenSource, readonly string[]>>;
  readonly family: Family;
  /** That the lab may use. */
  readonly processors: number;
  /** The address of the Service that a name should lead to. */
  readonly resolvesTo?: string | undefined;
  /** Which pod each source address met before. */
  readonly noted?: ReadonlyMap<string, string> | undefined;
}

/**
 * How late a rejection may come. An IPv6 client in the same kernel as the rejecting node misses an
 * ICMP error that arrives while connect() still holds the socket, always, and learns of it with
 * its first retransmission, after 1.02 s. A lab has one kernel, so it is granted that second,
 * except where a scenario says otherwise.
 */
const REFUSAL_LIMIT_MS: Readonly<Record<Family, number>> = { ipv4: 1_000, ipv6: 1_500 };

/** A Service of thousands of endpoints answers in as many ways. */
const MOST_KINDS_SHOWN = 12;

/**
 * On one processor, as in User-mode Linux, every client misses the first error in that way, and shares
 * the processor with all that is asked at the same time: nftables was seen to refuse after 1.1 to 2.4 s
 * there. So only whether it is refused is judged; how soon, where there are more processors.
 */
function refusalLimitMs(
  { withinMs }: { readonly withinMs?: number },
  { family, processors }: Circumstances,
): number {
  if (processors === 1) return Number.POSITIVE_INFINITY;
  return withinMs ?? REFUSAL_LIMIT_MS[family];
}

/** Undefined when the outcomes are what was expected; otherwise what was wrong. */
export function judge(
  expected: Answer,
  outcomes: readonly Outcome[],
  circumstances: Circumstances,
): string | undefined {
  const fault = findFault(expected, outcomes, circumstances);
  return fault === undefined
    ? undefined
    : `expected ${describeAnswer(expected)}, ${fault}: ${tally(outcomes)}`;
}

function findFault(
  expected: Answer,
  outcomes: readonly Outcome[],
  circumstances: Circumstances,
): string | undefined {
  if (outcomes.length === 0) return 'nothing was asked';
  if ('answeredBy' in expected) {
    return (
      wrongAnswerers(expected.answeredBy, outcomes) ??
      wrongSource(expected, outcomes, circumstances)
    );
  }
  if ('answeredOrSilent' in expected) {
    const answered = outcomes.filter((o) => o.kind !== 'silent');
    return wrongAnswerers(expected.answeredOrSilent, answered);
  }
  if ('answeredOrRefused' in expected) {
    const answered = outcomes.filter((o) => o.kind !== 'refused');
    const wrong = wrongAnswerers(expected.answeredOrRefused, answered);
    return wrong ?? unless(answered.length < outcomes.length, 'none was refused');
  }
  if ('sharedBy' in expected) {
    return wrongAnswerers(expected.sharedBy, outcomes) ?? wrongShare(expected, outcomes);
  }
  if ('answeredTimes' in expected) return wrongTimes(expected.answeredTimes, outcomes);
  if ('answeredCounts' in expected) return wrongCounts(expected, outcomes);
  if ('stickyBySource' in expected) return notStickyBySource(expected.stickyBySource, outcomes);
  if ('keptAs' in expected) return notKept(expected, circumstances.noted ?? new Map(), outcomes);
  if ('stickyTo' in expected) {
    return notSticky(expected.stickyTo, outcomes) ?? wrongSource(expected, outcomes, circumstances);
  }
  if ('movesAmong' in expected) return notMoving(expected.movesAmong, outcomes);
  if ('refused' in expected) {
    const limitMs = refusalLimitMs(expected, circumstances);
    const { notBeforeMs = 0 } = expected;
    const prompt = (o: Outcome): boolean =>
      o.kind === 'refused' && o.afterMs - (o.stolenMs ?? 0) <= limitMs && o.afterMs >= notBeforeMs;
    return unless(outcomes.every(prompt), `not all were refused within ${limitMs} ms`);
  }
  if ('spreadOver' in expected) {
    return unevenSpread({ pod: expected.spreadOver, numbers: expected.numbers }, outcomes);
  }
  if ('echoed' in expected) {
    return unless(
      outcomes.every((o) => o.kind === 'echoed'),
      'not all were echoed',
    );
  }
  if ('reset' in expected) {
    return unless(
      outcomes.every((o) => o.kind === 'failed' && o.code === 'ECONNRESET'),
      'not all were reset',
    );
  }
  if ('silent' in expected) {
    return unless(
      outcomes.every((o) => o.kind === 'silent'),
      'not all were silent',
    );
  }
  if ('resolvedTo' in expected) {
    const { resolvesTo } = circumstances;
    return unless(
      outcomes.every((o) => o.kind === 'resolved' && o.addresses.join() === resolvesTo),
      `not all were told ${resolvesTo}`,
    );
  }
  if ('unserved' in expected) {
    return unless(
      outcomes.every((o) => !['answered', 'echoed', 'resolved'].includes(o.kind)),
      'some were answered',
    );
  }
  return wrongStatus(expected, outcomes);
}

function wrongAnswerers(pods: readonly string[], outcomes: readonly Outcome[]): string | undefined {
  const seen = answerers(outcomes);
  if (outcomes.some((o) => o.kind !== 'answered')) return 'some had no answer';
  const missing = pods.filter((pod) => !seen.has(pod));
  if (missing.length > 0) return `${missing.join(', ')} never answered`;
  const extra = [...seen].filter((pod) => !pods.includes(pod));
  return unless(extra.length === 0, `${extra.join(', ')} should not have answered`);
}

function wrongShare(
  { of, share }: { readonly of: string; readonly share: Share },
  outcomes: readonly Outcome[],
): string | undefined {
  const count = outcomes.filter((o) => o.kind === 'answered' && o.by === of).length;
  const seen = count / outcomes.length;
  const holds = 'atMost' in share ? seen <= share.atMost : seen > share.moreThan;
  return unless(holds, `${of} answered ${count} of ${outcomes.length}`);
}

function notSticky(pods: readonly string[], outcomes: readonly Outcome[]): string | undefined {
  const seen = [...answerers(outcomes)];
  if (outcomes.some((o) => o.kind !== 'answered')) return 'some had no answer';
  if (seen.length !== 1) return 'more than one answered';
  return unless(pods.includes(seen[0] ?? ''), `${seen[0]} should not have answered`);
}

function notMoving(pods: readonly string[], outcomes: readonly Outcome[]): string | undefined {
  const seen = [...answerers(outcomes)];
  if (outcomes.some((o) => o.kind !== 'answered')) return 'some had no answer';
  const extra = seen.filter((pod) => !pods.includes(pod));
  if (extra.length > 0) return `${extra.join(', ')} should not have answered`;
  return unless(seen.length > 1, 'only one ever answered');
}

function wrongSource(
  expected: { readonly source?: SeenSource },
  outcomes: readonly Outcome[],
  circumstances: Circumstances,
): string | undefined {
  if (expected.source === undefined) return undefined;
  const allowed = circumstances.sources[expected.source];
  const wrong = outcomes.find((o) => o.kind === 'answered' && !allowed.includes(o.source));
  return unless(
    wrong === undefined,
    `the source should have been ${expected.source} (${allowed.join(' or ')})`,
  );
}

function wrongStatus(
  expected: Extract<Answer, { status: number }>,
  outcomes: readonly Outcome[],
): string | undefined {
  for (const outcome of outcomes) {
    if (outcome.kind !== 'status' || outcome.status !== expected.status) return 'wrong status';
    if (expected.localEndpoints === undefined) continue;
    const body = JSON.parse(outcome.body) as { localEndpoints?: number };
    if (body.localEndpoints !== expected.localEndpoints) return 'wrong count of local endpoints';
  }
  return undefined;
}

function answerers(outcomes: readonly Outcome[]): Set<string> {
  return new Set(outcomes.flatMap((o) => (o.kind === 'answered' ? [o.by] : [])));
}

function unless(holds: boolean, fault: string): string | undefined {
  return holds ? undefined : fault;
}

function describeAnswer(answer: Answer): string {
  if ('answeredBy' in answer) return `an answer by each of ${answer.answeredBy.join(', ')}`;
  if ('answeredOrSilent' in answer) {
    return `silence, or an answer by each of ${answer.answeredOrSilent.join(', ')}`;
  }
  if ('answeredOrRefused' in answer) {
    return `refusals, and an answer by each of ${answer.answeredOrRefused.join(', ')}`;
  }
  if ('sharedBy' in answer) {
    const [[words, share] = ['', 0]] = Object.entries(answer.share);
    const bound = `${words === 'atMost' ? 'at most' : 'more than'} ${(share * 100).toFixed(1)} %`;
    return `an answer by each of ${answer.sharedBy.join(', ')}, ${bound} of them by ${answer.of}`;
  }
  if ('answeredTimes' in answer) {
    const times = Object.entries(answer.answeredTimes).map(([pod, count]) => `${count} by ${pod}`);
    return `answers ${times.join(', ')}`;
  }
  if ('answeredCounts' in answer) {
    return `${answer.answeredCounts.join(', ')} answers by ${answer.by.join(', ')} in some order`;
  }
  if ('stickyBySource' in answer) {
    return `for each source one of ${answer.stickyBySource.join(', ')}, and for all each of them`;
  }
  if ('keptAs' in answer) {
    return `the pods of '${answer.keptAs}', but for sources of ${answer.lost} and ${answer.moved * 100} % of the others`;
  }
  if ('stickyTo' in answer) return `every answer by one of ${answer.stickyTo.join(', ')}`;
  if ('movesAmong' in answer) return `answers by several of ${answer.movesAmong.join(', ')}`;
  if ('spreadOver' in answer) {
    return `answers spread over ${answer.numbers.from} to ${answer.numbers.to} of ${answer.spreadOver}`;
  }
  if ('resolvedTo' in answer) return `the address of ${answer.resolvedTo}`;
  if ('status' in answer) {
    const local = answer.localEndpoints;
    return `HTTP ${answer.status}${local === undefined ? '' : ` with ${local} local endpoints`}`;
  }
  return Object.keys(answer)[0] ?? '';
}

/** `28 × answered by a, who saw 10.1.1.1; 2 × silent` */
function tally(outcomes: readonly Outcome[]): string {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) {
    const text = describeOutcome(outcome);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const kinds = [...counts].map(([text, count]) => `${count} × ${text}`);
  const shown = kinds.slice(0, MOST_KINDS_SHOWN).join('; ');
  return kinds.length > MOST_KINDS_SHOWN ? `${shown}; and ${kinds.length} kinds in all` : shown;
}
