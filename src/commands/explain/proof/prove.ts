import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Desired } from '../../../dataplanes/contract.ts';
import type { Observed, ProvenPacket } from '../../../explain/proof/proof.ts';
import type { Destination } from '../../../forwarding/answer/destination.ts';
import { familyOf } from '../../../forwarding/answer/source.ts';
import { endpointKey } from '../../../forwarding/endpoints.ts';
import { PROTOCOL_TCP, PROTOCOL_UDP } from '../../../linux/conntrack/protocol.ts';
import { type HeldPort, holdPort } from '../../../linux/probe/held-port.ts';
import { type ProbeAnswer, probeAnswer } from '../../../linux/probe/probe-answer.ts';
import { sendDatagram, sendSyn, startConnection } from '../../../linux/probe/send-probe.ts';
import { SocketError } from '../../../linux/sockets/errors.ts';
import type { TraceEvent } from '../../../linux/trace/decode-trace.ts';
import { leftAs } from '../../../linux/trace/left-as.ts';
import { LAST_CHAINS, PROBE_TABLE_NAME } from '../../../linux/trace/probe-table.ts';
import { openTrace, type PacketTrace } from '../../../linux/trace/trace.ts';
import { openDropReader } from './drop-reader.ts';
import type { PlannedProbe } from './probe-kind.ts';
import { BLIND, isBlind, readPath } from './read-path.ts';
import { reasonOf } from './reason.ts';

/** A SYN is not sent again, and an endpoint of another continent answers within this. */
const ANSWER_TIMEOUT_MS = 2000;
/** A rejection is sent while the packet is dropped; its answer needs no longer than this. */
const AFTER_END_MS = 50;
/** Events are queued before the answer is. */
const EVENTS_TIMEOUT_MS = 200;
/** Drops are read by polling. */
const LATE_DROP_MS = 100;
/** A neighbour is asked for three times, a second apart, before its packets are dropped. */
const NEIGHBOUR_MS = 3500;
const { ENETUNREACH } = constants.errno;
const LAST: readonly string[] = Object.values(LAST_CHAINS);

/** What a probe is sent for. */
interface ProvenCase {
  readonly to: Destination;
  readonly desired: Desired;
  readonly affinitySeconds: number;
  /** Of the agent. */
  readonly runFolder: string;
  /** Where it may be forwarded to. */
  readonly endpoints: readonly { readonly address: string; readonly port: number }[];
}

/** Sends the probe, and gives what it met, or in words why that is not known. */
export async function prove(probe: PlannedProbe, of: ProvenCase): Promise<ProvenPacket | string> {
  const ended = new AbortController();
  try {
    return await traced(probe, { ...of, signal: ended.signal });
  } catch (error) {
    if (error instanceof SocketError && error.errno === ENETUNREACH) return unsent(probe, error);
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    return reason;
  } finally {
    ended.abort();
  }
}

/** The client has no route to the target: its socket is told so before there is a packet. */
function unsent({ kind }: PlannedProbe, { code }: SocketError): ProvenPacket {
  return {
    kind,
    source: '',
    outcome: { is: 'lost', after: '' },
    answer: { is: 'unreachable', code, afterMs: 0 },
    steps: [],
    drop: null,
    isComplete: true,
    leftBehind: [],
  };
}

async function traced(
  probe: PlannedProbe,
  of: ProvenCase & { readonly signal: AbortSignal },
): Promise<ProvenPacket | string> {
  const { to, signal } = of;
  const { kind, protocol, mode } = probe;
  using port = holdPort({ address: to.address, port: to.port, protocol }, probe.namespacePath);
  const flow = {
    family: familyOf(to.address) === 'IPv4' ? 'ip' : 'ip6',
    protocol: protocol === 'TCP' ? PROTOCOL_TCP : PROTOCOL_UDP,
    source: port.source,
    sourcePort: port.sourcePort,
  } as const;
  // A masqueraded packet has another source address and port when it comes to its endpoint.
  const parts = [{ port: port.sourcePort }, ...of.endpoints];
  const ends = parts.map((end) => ({ ...end, protocol: flow.protocol }));
  const drops = openDropReader(ends, signal);
  const trace = await openTrace(flow, { signal, stopsAtEnd: kind === 'dry' });
  const answer = await sendAndWait(probe, port, { trace, signal });
  const { events, isComplete } = trace;
  const { outcome: seen, steps } = await readPath({ events, answer }, { ...of, mode });
  const outcome = await followed(seen, { ...of, probe, port, answer });
  if (isBlind({ outcome, steps }, mode)) return BLIND;
  const { address: destination, port: destinationPort } = to;
  const first = { ...flow, destination, destinationPort };
  const known = { first, translated: leftAs(events) };
  const timeoutMs = dropTimeoutMs({ kind, outcome, answer });
  const isRead = typeof drops === 'object' && timeoutMs !== undefined;
  const drop = isRead ? await drops.find(known, { timeoutMs, signal }) : undefined;
  const isRemembered = of.affinitySeconds > 0 && outcome.is === 'forwarded';
  const entry = `an affinity entry of ${port.source} for ${of.affinitySeconds} s`;
  return {
    kind,
    source: endpointKey({ address: port.source, port: port.sourcePort }),
    outcome,
    answer,
    steps,
    drop: drop ?? null,
    ...(typeof drops === 'string' ? { dropsUnread: drops } : {}),
    isComplete,
    leftBehind: isRemembered ? [entry] : [],
  };
}

/** What a process of the mode did with a connection that it got, while that is open. */
async function followed(
  outcome: Observed,
  of: {
    readonly probe: PlannedProbe;
    readonly port: HeldPort;
    readonly answer: ProbeAnswer;
    readonly runFolder: string;
    readonly signal: AbortSignal;
  },
): Promise<Observed> {
  const { probe, port, answer, runFolder, signal } = of;
  const { connectedTo } = probe.mode;
  const isOpen = probe.kind === 'connect' && answer.is === 'accepted';
  if (outcome.is !== 'handed over' || !isOpen || connectedTo === undefined) return outcome;
  const client = { address: port.source, port: port.sourcePort };
  const found = await connectedTo({ runFolder, client, signal });
  if (found === undefined) return { is: 'handed over', reached: false };
  return { is: 'forwarded', endpoint: found.endpoint, seenAs: found.source };
}

/** How long a drop may come after the answer; undefined: all is told without one. */
function dropTimeoutMs({
  kind,
  outcome,
  answer,
}: Pick<ProvenPacket, 'kind' | 'outcome' | 'answer'>): number | undefined {
  if (outcome.is === 'lost' || answer.is === 'refused' || answer.is === 'unreachable') {
    return LATE_DROP_MS;
  }
  const isAwaited = kind !== 'dry' && outcome.is === 'forwarded' && answer.is === 'silent';
  return isAwaited ? NEIGHBOUR_MS - ANSWER_TIMEOUT_MS : undefined;
}

async function sendAndWait(
  { kind, protocol }: PlannedProbe,
  port: HeldPort,
  { trace, signal }: { readonly trace: PacketTrace; readonly signal: AbortSignal },
): Promise<ProbeAnswer> {
  const send = protocol === 'UDP' ? sendDatagram : kind === 'connect' ? startConnection : sendSyn;
  const isOver = (events: readonly TraceEvent[]): boolean =>
    events.some(({ verdict }) => verdict === 'drop');
  const settled = new AbortController();
  const wait = { timeoutMs: ANSWER_TIMEOUT_MS, signal };
  using sent = send(port);
  void trace.until(isOver, wait).then(async (isDropped) => {
    if (isDropped) await sleep(AFTER_END_MS);
    settled.abort();
  });
  const answer = await probeAnswer(sent, port, { ...wait, signal: settled.signal });
  await trace.until(hasEnd, { timeoutMs: EVENTS_TIMEOUT_MS, signal });
  return answer;
}

/** The packet has met all rules, or one dropped it. */
function hasEnd(events: readonly TraceEvent[]): boolean {
  return events.some(
    ({ table, chain, verdict }) =>
      verdict === 'drop' || (table === PROBE_TABLE_NAME && LAST.includes(chain)),
  );
}
