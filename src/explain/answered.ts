import type { Forwarded } from '../forwarding/answer/prediction.ts';
import type { Code } from './codes.ts';
import { reachedSentence } from './predicted-sentence.ts';
import type { ProvenPacket } from './proof/proof.ts';

/** What came of a connection that is forwarded: reached, not answered, or only predicted. */
export interface Answered {
  readonly code: Extract<Code, 'REACHES' | 'NO_ANSWER' | 'WOULD_REACH'>;
  readonly sentence: string;
  readonly next: readonly string[];
}

/** `packet`: did as predicted; undefined: none was sent. */
export function answered(
  prediction: Forwarded,
  packet: Pick<ProvenPacket, 'kind' | 'outcome' | 'answer'> | undefined,
  { subject, predicted }: { readonly subject: string; readonly predicted: string },
): Answered {
  if (packet === undefined) {
    const sentence = `${predicted}; only predicted, no packet was sent`;
    return { code: 'WOULD_REACH', sentence, next: [] };
  }
  const { kind, outcome, answer } = packet;
  if (outcome.is !== 'forwarded') {
    const sentence = `${predicted}; the forwarder took the packet, and its endpoint is not known`;
    return { code: 'WOULD_REACH', sentence, next: [] };
  }
  const { endpoint } = outcome;
  if (answer.is === 'accepted' || answer.is === 'answered') {
    return {
      code: 'REACHES',
      sentence: reachedSentence(prediction, endpoint, { subject }),
      next: [],
    };
  }
  if (kind === 'dry') {
    const sentence = `${predicted}; the rules send it to ${endpoint}, which was not asked`;
    return { code: 'WOULD_REACH', sentence, next: [] };
  }
  return {
    code: 'NO_ANSWER',
    sentence: `the datagram of ${subject} left for ${endpoint}, and no answer came: it is not known whether a program got it`,
    next: [`ask ${endpoint} in the program's own protocol: many answer no empty datagram`],
  };
}
