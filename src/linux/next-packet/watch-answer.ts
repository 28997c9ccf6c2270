import { sleep } from '../../time/sleep.ts';
import { addressText } from '../conntrack/address-bytes.ts';
import { PROTOCOL_TCP, STATUS_SEEN_REPLY } from '../conntrack/conntrack-protocol.ts';
import { findFlow } from '../conntrack/find-flow.ts';
import type { Flow } from '../conntrack/flow.ts';
import type { Tuple } from '../drops/drop.ts';
import type { Answer, FirstPacket } from './first-packet.ts';

const PAUSE_MS = 10;
/** The entry of a connection may be a moment later than the trace of its packet. */
const NO_ENTRY_MS = 200;

export interface AnswerWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whether a drop has told what became of it. `translated`: where conntrack sends it. */
  isTold(translated: Tuple | undefined): boolean;
}

export interface Answered {
  readonly answer: Answer;
  /** As conntrack translates it, where the rules did not tell. */
  readonly translated: Tuple | undefined;
  readonly afterMs: number;
}

/** What conntrack sees come back, until the timeout. */
export async function watchAnswer(
  { first, translated, isRejected }: FirstPacket,
  { timeoutMs, signal, isTold }: AnswerWait,
): Promise<Answered> {
  const beganMs = performance.now();
  const afterMs = (): number => performance.now() - beganMs;
  let goal = translated;
  const told = (answer: Answer): Answered => ({ answer, translated: goal, afterMs: afterMs() });
  if (isRejected) return told('refused');
  while (afterMs() < timeoutMs && !signal.aborted) {
    const flow = await findFlow(first);
    goal ??= flow && translationOf(flow);
    if (flow && (flow.status & STATUS_SEEN_REPLY) !== 0) return told('answered');
    if (isTold(goal)) break;
    const isGone = flow === undefined && afterMs() > NO_ENTRY_MS;
    // An attempt that left the machine has an entry for a minute, unless a reset ended it.
    if (isGone && first.protocol === PROTOCOL_TCP && goal !== undefined) return told('refused');
    await sleep(PAUSE_MS, signal);
  }
  return told('none');
}

function translationOf({ protocol, reply }: Flow): Tuple {
  return {
    protocol,
    source: addressText(reply.destination),
    sourcePort: reply.destinationPort,
    destination: addressText(reply.source),
    destinationPort: reply.sourcePort,
  };
}
