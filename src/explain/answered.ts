import type { Destination } from '../forwarding/answer/destination.ts';
import type { Direct, Forwarded } from '../forwarding/answer/prediction.ts';
import { endpointKey } from '../forwarding/endpoints.ts';
import type { Code } from './codes.ts';
import { directGoal, reachedSentence } from './predicted-sentence.ts';
import type { ProvenPacket } from './proof/proof.ts';

/** What came of a connection that leads to an endpoint: reached, not answered, or only predicted. */
export interface Answered {
  readonly code: Extract<Code, 'REACHES' | 'NO_ANSWER' | 'WOULD_REACH' | 'NOT_TRANSLATED'>;
  readonly sentence: string;
  readonly next: readonly string[];
}

interface Words {
  readonly subject: string;
  readonly to: Destination;
  /** What the rows say. */
  readonly predicted: string;
}

/** `packet`: did as predicted; undefined: none was sent. */
export function answered(
  prediction: Forwarded | Direct,
  packet: Pick<ProvenPacket, 'kind' | 'outcome' | 'answer'> | undefined,
  { subject, to, predicted }: Words,
): Answered {
  const asPredicted = (why: string): Answered => {
    return { code: prediction.code, sentence: `${predicted}; ${why}`, next: [] };
  };
  if (packet === undefined) return asPredicted('only predicted, no packet was sent');
  const { kind, answer } = packet;
  const endpoint = endpointMet(prediction, packet, to);
  if (endpoint === undefined) {
    return asPredicted('the forwarder took the packet, and its endpoint is not known');
  }
  if (answer.is === 'accepted' || answer.is === 'answered') {
    const sentence =
      prediction.code === 'WOULD_REACH'
        ? reachedSentence(prediction, endpoint, { subject })
        : `${subject} reaches ${directGoal(to, prediction)} directly`;
    return { code: 'REACHES', sentence, next: [] };
  }
  if (kind === 'dry') return asPredicted(`the rules send it to ${endpoint}, which was not asked`);
  return {
    code: 'NO_ANSWER',
    sentence: `the datagram of ${subject} left for ${endpoint}, and no answer came: it is not known whether a program got it`,
    next: [`ask ${endpoint} in the program's own protocol: many answer no empty datagram`],
  };
}

/** `address:port`; undefined: a process of the mode has the connection. */
function endpointMet(
  { code }: Forwarded | Direct,
  { outcome }: Pick<ProvenPacket, 'outcome'>,
  to: Destination,
): string | undefined {
  if (outcome.is === 'forwarded') return outcome.endpoint;
  return code === 'NOT_TRANSLATED' ? endpointKey(to) : undefined;
}
