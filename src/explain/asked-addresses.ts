import { CODES } from './codes.ts';
import type { AskedAddress, Explanation } from './explanation.ts';

/** What a client meets at any of several addresses is what it meets at the worst of them. */
const WORST_FIRST = ['differs', 'doesNotReach', 'noSuchThing', 'notProven', 'reaches'] as const;

/** The worst one, which lists them all, worst first. `all`: at least one. */
export function worstOf(all: readonly Explanation[]): Explanation {
  const sorted = [...all].sort((a, b) => rankOf(a) - rankOf(b));
  const [worst] = sorted;
  if (worst === undefined) throw new RangeError('no address was asked');
  if (sorted.length === 1) return worst;
  return { ...worst, addresses: sorted.map(askedAddress) };
}

function rankOf({ code, certainty }: Explanation): number {
  return WORST_FIRST.indexOf(certainty === 'contradicted' ? 'differs' : CODES[code].exit);
}

function askedAddress({ question, code, certainty, sentence }: Explanation): AskedAddress {
  const { service = '', frontend } = question;
  return { service, at: frontend, code, certainty, sentence };
}
