import { CODES, type Code } from './codes.ts';
import type { AskedAddress, Explanation } from './explanation.ts';

/** What a client meets at any of several addresses is what it meets at the worst of them. */
const WORST_FIRST = ['differs', 'doesNotReach', 'noSuchThing', 'notProven', 'reaches'] as const;

/** The worst one, which lists them all, worst first. `all`: at least one. */
export function worstOf(all: readonly Explanation[]): Explanation {
  const sorted = [...all].sort((a, b) => rankOf(a) - rankOf(b));
  const [worst] = sorted;
  if (worst === undefined) throw new RangeError('no address was asked');
  if (sorted.length === 1) return worst;
  return { ...worst, sentence: withBetter(worst, sorted), addresses: sorted.map(askedAddress) };
}

/** The first line tells of the worst, and that it is not all. */
function withBetter({ code, sentence, question }: Explanation, sorted: readonly Explanation[]) {
  const same = sorted.filter((each) => each.question.service === question.service);
  const better = same.filter((each) => WELL.has(each.code) && !WELL.has(code));
  if (better.length === 0) return sentence;
  const where = better.map((each) => `${each.question.frontend} (${each.code})`);
  return `${sentence}; not so at ${where.join(', ')}`;
}

const WELL: ReadonlySet<Code> = new Set(['REACHES', 'WOULD_REACH'] as const);

function rankOf({ code, certainty }: Explanation): number {
  return WORST_FIRST.indexOf(certainty === 'contradicted' ? 'differs' : CODES[code].exit);
}

function askedAddress({ question, code, certainty, sentence }: Explanation): AskedAddress {
  const { service = '', frontend } = question;
  return { service, at: frontend, code, certainty, sentence };
}
