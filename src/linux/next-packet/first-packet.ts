import { sleep } from '../../time/sleep.ts';
import type { Tuple } from '../drops/drop.ts';
import type { TraceEvent } from '../trace/decode-trace.ts';
import { leftAs, tupleOf } from '../trace/left-as.ts';
import { openTrace, type PacketTrace } from '../trace/trace.ts';

export interface WatchedDestination {
  readonly protocol: number;
  readonly family: 'ip' | 'ip6';
  readonly address: string;
  readonly port: number;
  /** Only packets of this client. */
  readonly source?: string;
}

export interface WaitForPacket {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when packets are watched for. */
  onReady(): void;
  /** A packet that was dropped before it met a rule; undefined: none. */
  droppedEarly(): Tuple | undefined;
}

const PAUSE_MS = 10;

/**
 * Waits for the first packet of a new connection to the destination; undefined: none came in time.
 * The trace is closed at once afterwards, since further connections would be traced too.
 */
export async function waitForFirstPacket(
  to: WatchedDestination,
  { timeoutMs, signal, onReady, droppedEarly }: WaitForPacket,
): Promise<FirstPacket | undefined> {
  const stop = new AbortController();
  const ended = AbortSignal.any([stop.signal, signal]);
  try {
    const options = { signal: ended, stopsAtEnd: false, firstPacketsOnly: true };
    const trace = await openTrace(flowOf(to), options);
    onReady();
    const deadlineMs = performance.now() + timeoutMs;
    while (performance.now() < deadlineMs && !signal.aborted) {
      const first = tracedFirst(trace, to) ?? droppedEarly();
      await sleep(PAUSE_MS, signal);
      // Its last events have come during the pause.
      if (first !== undefined) return pathOf(trace, first);
    }
    return undefined;
  } finally {
    stop.abort();
  }
}

function flowOf({ address, port, ...rest }: WatchedDestination): Parameters<typeof openTrace>[0] {
  return { ...rest, destination: address, destinationPort: port };
}

/** Whether a packet of a client goes there. */
export function isTo(tuple: Tuple, to: WatchedDestination): boolean {
  return (
    tuple.protocol === to.protocol &&
    tuple.destinationPort === to.port &&
    tuple.destination === to.address &&
    (to.source === undefined || tuple.source === to.source)
  );
}

function tracedFirst(trace: PacketTrace, to: WatchedDestination): Tuple | undefined {
  const first = trace.events.find(({ packet }) => packet && isTo(tupleOf(packet), to));
  return first?.packet && tupleOf(first.packet);
}

function pathOf({ events: all, isComplete }: PacketTrace, first: Tuple): FirstPacket {
  const isFirst = ({ source, sourcePort, protocol }: Tuple): boolean =>
    source === first.source && sourcePort === first.sourcePort && protocol === first.protocol;
  const begin = all.find(({ packet }) => packet && isFirst(tupleOf(packet)));
  const events = all.filter(({ packetId }) => packetId === begin?.packetId);
  const isRejected = all.some(
    ({ packet }) => packet?.destination === first.source && isRejection(packet, first),
  );
  return { first, translated: leftAs(events), events, isComplete, isRejected };
}

function isRejection(
  packet: { readonly protocol: number; readonly destinationPort?: number },
  { protocol, sourcePort }: Tuple,
): boolean {
  // An ICMP error has no ports of its own.
  return packet.protocol !== protocol || packet.destinationPort === sourcePort;
}

/** The first packet of a new connection, and what it met. */
export interface FirstPacket {
  /** As the client sent it. */
  readonly first: Tuple;
  /** After all rules; undefined: it did not come so far. */
  readonly translated: Tuple | undefined;
  /** What it met in nf_tables, in order. */
  readonly events: readonly TraceEvent[];
  /** False: the kernel had no room for some events. */
  readonly isComplete: boolean;
  /** A rule of this machine sent a reset or an ICMP error to the client. */
  readonly isRejected: boolean;
}

/**
 * `refused`: rejected by a rule, or its conntrack entry was deleted, as conntrack does when the only
 * answer to a connection attempt is a reset.
 */
export type Answer = 'answered' | 'refused' | 'none';
