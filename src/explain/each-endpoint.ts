import type { Code } from './codes.ts';
import { countText } from './explain-words.ts';
import type { EachEndpoint, Explanation } from './explanation.ts';

/** No packet was sent. */
const UNASKED: readonly Code[] = ['NOT_TRANSLATED', 'WOULD_REACH'];

/**
 * Joins what a packet through the translation met with what packets straight to each endpoint met:
 * where they differ, one connection alone says only which endpoint it happened to get.
 */
export function withEach(whole: Explanation, each: readonly EachEndpoint[]): Explanation {
  const asked = each.filter(({ code }) => code !== undefined && !UNASKED.includes(code));
  const failing = asked.filter(({ code }) => code !== 'REACHES');
  if (failing.length === 0 || failing.length === asked.length) return { ...whole, each };
  const names = failing.map(({ endpoint, code }) => `${endpoint} (${code})`).join(', ');
  const what = failing.length === 1 ? 'does not answer' : 'do not answer';
  const { service = whole.question.frontend } = whole.question;
  return {
    ...whole,
    code: 'SOME_ENDPOINTS_FAIL',
    reaches: false,
    certainty: 'contradicted',
    sentence: `${failing.length} of ${countText(asked.length, 'endpoint')} of ${service} ${what}, and new connections get any of them: ${names}`,
    each,
    next: [...new Set(failing.flatMap(({ next }) => next))],
  };
}

/** An endpoint, from its explanation; `undefined`: there was no time to ask it. */
export function eachEndpoint(
  share: { readonly endpoint: string; readonly nodeName: string },
  explained: Explanation | undefined,
): EachEndpoint {
  const { endpoint, nodeName } = share;
  if (explained === undefined) return { endpoint, nodeName, next: [] };
  const { code, sentence, proof, next } = explained;
  const answer = proof?.answer;
  const afterMs = answer !== undefined && 'afterMs' in answer ? answer.afterMs : undefined;
  return {
    endpoint,
    nodeName,
    code,
    sentence,
    ...(afterMs === undefined ? {} : { answeredWithinMs: Math.ceil(afterMs) }),
    next,
  };
}
