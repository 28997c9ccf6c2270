import type { Desired } from '../../../dataplanes/contract.ts';
import { dropKind } from '../../../explain/drop-kinds.ts';
import type { ProvenPacket } from '../../../explain/proof/proof.ts';
import { familyOf } from '../../../forwarding/answer/connection-source.ts';
import type { Destination } from '../../../forwarding/answer/destination.ts';
import { endpointKey } from '../../../forwarding/endpoints.ts';
import { PROTOCOL_TCP, PROTOCOL_UDP } from '../../../linux/conntrack/conntrack-protocol.ts';
import type { Tuple } from '../../../linux/drops/drop.ts';
import {
  type FirstPacket,
  isTo,
  type WatchedDestination,
  waitForFirstPacket,
} from '../../../linux/next-packet/first-packet.ts';
import { type Answered, watchAnswer } from '../../../linux/next-packet/watch-answer.ts';
import type { ProbeAnswer } from '../../../linux/probe/answer-kinds.ts';
import type { ModeProof } from '../../../modes/proof/mode-proof.ts';
import { type DropReader, openDropReader } from './drop-reader.ts';
import { BLIND, isBlind, readPath } from './read-path.ts';
import { reasonOf } from './reason.ts';

/** A neighbour is asked for three times, a second apart, before its packets are dropped. */
const ANSWER_TIMEOUT_MS = 3500;
/** Drops are read by polling. */
const LATE_DROP_MS = 100;

export interface WatchedCase {
  readonly to: Destination;
  /** Where it may be forwarded to. */
  readonly endpoints: readonly { readonly address: string; readonly port: number }[];
  /** Only packets of this client. */
  readonly source: string | undefined;
  readonly desired: Desired;
  readonly mode: ModeProof;
  readonly timeoutMs: number;
  onReady(): void;
}

/** The packet of a real client. */
export interface Watched {
  readonly packet: ProvenPacket;
  readonly client: string;
}

/** Waits for the next packet to the target; in words why there is none, or its way is not known. */
export async function watchTarget(target: WatchedCase): Promise<Watched | string> {
  const ended = new AbortController();
  try {
    return await watched(target, ended.signal);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    return reason;
  } finally {
    ended.abort();
  }
}

async function watched(target: WatchedCase, signal: AbortSignal): Promise<Watched | string> {
  const { to, timeoutMs, onReady } = target;
  const goal = destinationOf(target);
  const ends = [to, ...target.endpoints].map(({ address, port }) => {
    return { address, port, protocol: goal.protocol };
  });
  const drops = await openDropReader(ends, signal);
  const reader = typeof drops === 'string' ? undefined : drops;
  const droppedEarly = (): Tuple | undefined => firstDropped(reader, goal);
  const wait = { timeoutMs, signal, onReady, droppedEarly };
  const came = await waitForFirstPacket(goal, wait);
  if (came === undefined) {
    const who = target.source === undefined ? '' : ` from ${target.source}`;
    return `no new connection${who} came within ${(timeoutMs / 1000).toLocaleString('en-US')} s`;
  }
  const isTold = (translated: Tuple | undefined): boolean =>
    reader?.decisive({ first: came.first, translated }) !== undefined;
  const answered = await watchAnswer(came, { timeoutMs: ANSWER_TIMEOUT_MS, signal, isTold });
  const packet = await packetOf(came, answered, { ...target, reader, signal });
  if (typeof packet === 'string') return packet;
  const unread = typeof drops === 'string' ? { dropsUnread: drops } : {};
  return { packet: { ...packet, ...unread }, client: came.first.source };
}

function destinationOf({ to, source }: WatchedCase): WatchedDestination {
  return {
    protocol: to.protocol === 'TCP' ? PROTOCOL_TCP : PROTOCOL_UDP,
    family: familyOf(to.address) === 'IPv4' ? 'ip' : 'ip6',
    address: to.address,
    port: to.port,
    ...(source === undefined ? {} : { source }),
  };
}

/**
 * A packet that was dropped before the trace saw it. It has no conntrack entry: a drop with one may be
 * a late packet of a connection that began before.
 */
function firstDropped(reader: DropReader | undefined, to: WatchedDestination): Tuple | undefined {
  const drop = reader
    ?.read()
    .find((one) => one.original === undefined && isTo(one.packet, to) && dropKind(one));
  return drop?.packet;
}

async function packetOf(
  came: FirstPacket,
  answered: Answered,
  target: WatchedCase & { readonly reader: DropReader | undefined; readonly signal: AbortSignal },
): Promise<ProvenPacket | string> {
  const { reader, signal, mode } = target;
  const answer = answerOf(answered, came.first);
  const { first, events, isComplete } = came;
  const path = await readPath({ events, answer }, target);
  if (isBlind(path, mode)) return BLIND;
  const known = { first, translated: answered.translated };
  const wait = { timeoutMs: LATE_DROP_MS, signal };
  const drop = answered.answer === 'answered' ? undefined : await reader?.find(known, wait);
  return {
    kind: 'watched',
    source: endpointKey({ address: first.source, port: first.sourcePort }),
    ...path,
    answer,
    drop: drop ?? null,
    isComplete,
    leftBehind: [],
  };
}

function answerOf({ answer, afterMs }: Answered, { protocol }: Tuple): ProbeAnswer {
  switch (answer) {
    case 'answered':
      return { is: protocol === PROTOCOL_TCP ? 'accepted' : 'answered', afterMs };
    case 'refused':
      return { is: 'refused', afterMs };
    case 'none':
      return { is: 'silent' };
  }
}
