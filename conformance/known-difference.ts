import { DEFAULT_NETWORK, findNetwork } from '../lab/network/variants/registry.ts';
import type { KnownDifference, Otherwise, Question } from './scenario.ts';

/** Which proxy answers, and on what network. */
export interface Place {
  readonly proxy: string;
  readonly network: string;
}

/** How this proxy on this network is known to behave: what names both is nearest, then the network. */
export function differenceOf(
  otherwise: Otherwise | undefined,
  { proxy, network }: Place,
): KnownDifference | undefined {
  return otherwise?.[`${proxy}@${network}`] ?? otherwise?.[`@${network}`] ?? otherwise?.[proxy];
}

/**
 * What a question expects of this proxy on this network. A packet from outside for an
 * address without translation leaves a node only if the network's own rules forward it.
 */
export function expectationOf(
  question: Question,
  place: Place,
): Pick<Question, 'expect' | 'escapes'> {
  const wanted = differenceOf(question.otherwise, place) ?? question;
  const isTransit = /^(client|machine)\b/.test(question.from);
  if (!wanted.escapes || !isTransit || !findNetwork(place.network).dropsTransit) return wanted;
  return { expect: wanted.expect, escapes: false };
}

/** The column that the results of this proxy on this network stand in. */
export function labelOf({ proxy, network }: Place): string {
  return network === DEFAULT_NETWORK ? proxy : `${proxy}@${network}`;
}
