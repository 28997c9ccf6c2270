import { endpointKey } from '../../forwarding/endpoints.ts';
import type { ProbeAnswer } from '../../linux/probe/answer-kinds.ts';
import type { TraceEvent } from '../../linux/trace/decode-trace.ts';
import type { PacketHeader } from '../../linux/trace/packet-header.ts';
import type { MetRule, Observed, ProofStep } from './proof.ts';

/** What is needed to read the events of a probe. */
export interface Observation {
  readonly events: readonly TraceEvent[];
  readonly answer: ProbeAnswer;
  readonly asked: { readonly address: string; readonly port: number };
  /** The table that traces, and its chains at the end of the way. */
  readonly probe: { readonly table: string; readonly lastChains: readonly string[] };
  /** The hook of a base chain; undefined: it is none. */
  hookOf(chain: Pick<TraceEvent, 'family' | 'table' | 'chain'>): string | undefined;
  isOurs(rule: TraceEvent): boolean;
  /** A rule of ours in words. */
  wordsOf(rule: TraceEvent): string | undefined;
  /** Where a process of the mode listens. */
  readonly processAddresses: readonly string[];
}

/** What became of the probe's packet, and the rules that it met. `last`: as it was seen last. */
export function observe(observation: Observation): {
  readonly outcome: Observed;
  readonly steps: readonly ProofStep[];
  readonly last?: PacketHeader;
} {
  const events = onTheWayOut(observation.events);
  const steps: ProofStep[] = [];
  let [hook, isAtEnd] = ['', false];
  let packet: PacketHeader | undefined;
  for (const event of events) {
    const isProbe = event.table === observation.probe.table;
    hook = observation.hookOf(event) ?? hook;
    packet = event.packet ?? packet;
    if (isProbe) isAtEnd = observation.probe.lastChains.includes(event.chain);
    const step = isProbe ? undefined : stepOf(event, hook, observation);
    if (step === undefined) continue;
    steps.push(step);
    if (step.verdict !== 'drop') continue;
    const { table, chain, handle, ours } = step;
    const by: MetRule = { table, chain, ours, ...(handle === undefined ? {} : { handle }) };
    const isRejected =
      observation.answer.is === 'refused' || observation.answer.is === 'unreachable';
    const outcome = { is: isRejected ? 'rejected' : 'dropped', by } as const;
    return { outcome, steps, ...(packet === undefined ? {} : { last: packet }) };
  }
  if (packet === undefined) return { outcome: { is: 'lost', after: hook }, steps };
  const outcome: Observed = isAtEnd ? arrived(packet, observation) : { is: 'lost', after: hook };
  return { outcome, steps, last: packet };
}

function arrived(packet: PacketHeader, { asked, processAddresses }: Observation): Observed {
  const { destination, destinationPort = 0, source, sourcePort = 0 } = packet;
  if (processAddresses.includes(destination)) return { is: 'handed over' };
  if (destination === asked.address && destinationPort === asked.port) return { is: 'passed' };
  return {
    is: 'forwarded',
    endpoint: endpointKey({ address: destination, port: destinationPort }),
    seenAs: endpointKey({ address: source, port: sourcePort }),
  };
}

/**
 * The events of the first packet, also after it got another id: behind loopback, and where a bridge
 * passes it on by another interface. Answers, resets and a second attempt are left out.
 */
function onTheWayOut(events: readonly TraceEvent[]): readonly TraceEvent[] {
  const own = new Set<number>();
  let packet: PacketHeader | undefined;
  return events.filter((event) => {
    if (own.size === 0 || isSamePacket(event.packet, packet)) own.add(event.packetId);
    if (!own.has(event.packetId)) return false;
    packet = event.packet ?? packet;
    return true;
  });
}

/** Its destination may have been translated meanwhile. */
function isSamePacket(a: PacketHeader | undefined, b: PacketHeader | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return (
    a.source === b.source &&
    a.sourcePort === b.sourcePort &&
    a.tcpFlags?.join() === b.tcpFlags?.join()
  );
}

/** Only rules that matched, and policies that end the way. */
function stepOf(event: TraceEvent, hook: string, observation: Observation): ProofStep | undefined {
  const { kind, handle, verdict = '', target, packet } = event;
  const isMatch = kind === 'rule' && handle !== undefined;
  if (!isMatch && !(kind === 'policy' && verdict === 'drop')) return undefined;
  const ours = observation.isOurs(event);
  const does = ours ? observation.wordsOf(event) : undefined;
  return {
    hook,
    table: `${event.family} ${event.table}`,
    chain: event.chain,
    ...(handle === undefined ? {} : { handle: Number(handle) }),
    ours,
    ...(does === undefined ? {} : { does }),
    verdict,
    ...(target === undefined ? {} : { target }),
    ...(packet === undefined ? {} : { packet: endsOf(packet) }),
  };
}

function endsOf({ source, sourcePort = 0, destination, destinationPort = 0 }: PacketHeader) {
  return {
    source: endpointKey({ address: source, port: sourcePort }),
    destination: endpointKey({ address: destination, port: destinationPort }),
  };
}
