import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Desired } from '../../../dataplanes/contract.ts';
import type { Observed, ProvenPacket } from '../../../explain/proof/proof.ts';
import { familyOf } from '../../../forwarding/answer/connection-source.ts';
import type { Destination, Found } from '../../../forwarding/answer/destination.ts';
import { endpointKey } from '../../../forwarding/endpoints.ts';
import type { SourceClass } from '../../../forwarding/model.ts';
import { KernelConntrack } from '../../../linux/conntrack/conntrack.ts';
import { PROTOCOL_TCP, PROTOCOL_UDP } from '../../../linux/conntrack/conntrack-protocol.ts';
import { findFlow, type SentPacket } from '../../../linux/conntrack/find-flow.ts';
import { acceptQueueAt } from '../../../linux/host-sockets/tcp-listeners.ts';
import { insideNetworkNamespace } from '../../../linux/inside-namespace.ts';
import { namespaceOfAddress } from '../../../linux/namespace-of-address.ts';
import { openNetlink } from '../../../linux/netlink/netlink-socket.ts';
import type { ProbeAnswer } from '../../../linux/probe/answer-kinds.ts';
import {
  type HeldPort,
  holdPort,
  holdPortOnly,
  ownAddress,
} from '../../../linux/probe/held-port.ts';
import { probeAnswer } from '../../../linux/probe/probe-answer.ts';
import { sendLarge } from '../../../linux/probe/send-large.ts';
import {
  type SentProbe,
  sendDatagram,
  sendSyn,
  startConnection,
} from '../../../linux/probe/send-probe.ts';
import { SocketError } from '../../../linux/sockets/socket-error.ts';
import type { TraceEvent } from '../../../linux/trace/decode-trace.ts';
import { leftAs } from '../../../linux/trace/left-as.ts';
import {
  LAST_CHAINS,
  PROBE_TABLE_NAME,
  type TracedFlow,
} from '../../../linux/trace/probe-table.ts';
import { openTrace, type PacketTrace } from '../../../linux/trace/trace.ts';
import { openDropReader } from './drop-reader.ts';
import { socketSteps } from './front.ts';
import type { PlannedProbe } from './probe-kind.ts';
import { BLIND, isBlind, type Path, readPath } from './read-path.ts';
import { reasonOf } from './reason.ts';

/** A SYN is not sent again, and an endpoint of another continent answers within this. */
const ANSWER_TIMEOUT_MS = 2000;
/** A lost packet is sent again after 0.2, 0.6 and 1.4 s. */
const LARGE_TIMEOUT_MS = 2000;
/** A rejection is sent while the packet is dropped; its answer needs no longer than this. */
const AFTER_END_MS = 50;
/** Events are queued before the answer is. */
const EVENTS_TIMEOUT_MS = 200;
/** Drops are read by polling. */
const LATE_DROP_MS = 100;
/** A neighbour is asked for three times, a second apart, before its packets are dropped. */
const NEIGHBOUR_MS = 3500;
const { ENETUNREACH } = constants.errno;
const UNSPECIFIED: readonly string[] = ['0.0.0.0', '::'];
const SERVED_AS_POD =
  'the socket hooks serve this process, and took its socket for one of a pod: a client outside has none here';
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
  /** Where eBPF programs have their maps. */
  readonly pinFolder: string;
  readonly sourceClass: SourceClass;
  /** Undefined: no Service has the address. */
  readonly found: Found | undefined;
}

/** Sends the probe, and gives what it met, or in words why that is not known. */
export async function prove(
  probe: PlannedProbe,
  proven: ProvenCase,
): Promise<ProvenPacket | string> {
  const ended = new AbortController();
  try {
    return await traced(probe, { ...proven, signal: ended.signal });
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
  proven: ProvenCase & { readonly signal: AbortSignal },
): Promise<ProvenPacket | string> {
  const { to, signal } = proven;
  const { kind, mode } = probe;
  using port = held(probe, to);
  const flow = flowOf(port);
  // A masqueraded packet has another source address and port when it comes to its endpoint.
  const parts = [{ port: port.sourcePort }, ...proven.endpoints];
  const ends = parts.map((end) => ({ ...end, protocol: flow.protocol }));
  const drops = await openDropReader(ends, signal);
  const trace = await openTrace(flow, { signal, stopsAtEnd: kind === 'dry' });
  const { answer, source, large } = await sendAndWait(probe, port, { trace, signal });
  const events = begunBy(trace.events, { source, sourcePort: port.sourcePort });
  const met = await pathOf({ events, answer }, { ...proven, probe, port, source });
  if (typeof met === 'string') return met;
  const { steps } = met;
  const outcome = await followed(met.outcome, { ...proven, probe, source, port, answer });
  if (isBlind({ outcome, steps }, mode)) return BLIND;
  const { address: destination, port: destinationPort } = to;
  const { protocol } = flow;
  const { sourcePort } = port;
  const first = { protocol, source, sourcePort, destination, destinationPort };
  const known = { first, translated: leftAs(events) };
  const timeoutMs = dropTimeoutMs({ kind, outcome, answer, ...(large ? { large } : {}) });
  const isRead = typeof drops === 'object' && timeoutMs !== undefined;
  const drop = isRead ? await drops.find(known, { timeoutMs, signal }) : undefined;
  return {
    kind,
    source: UNSPECIFIED.includes(source)
      ? ''
      : endpointKey({ address: source, port: port.sourcePort }),
    outcome,
    answer,
    steps,
    ...(large === undefined ? {} : { large }),
    ...(await acceptQueueOf(outcome, { answer, protocol: probe.protocol })),
    drop: drop ?? null,
    ...(typeof drops === 'string' ? { dropsUnread: drops } : {}),
    isComplete: trace.isComplete,
    leftBehind: await leftBehind(outcome, { ...proven, probe, first }),
  };
}

/** Of the node itself a socket hook may change the route, and with it the source address. */
function held(probe: PlannedProbe, to: Destination): HeldPort {
  const { protocol, isAtSocket, namespacePath, source } = probe;
  const target = { address: to.address, port: to.port, protocol };
  const isFree = isAtSocket && namespacePath === undefined;
  return isFree ? holdPortOnly(target) : holdPort(target, { namespacePath, source });
}

function flowOf({ source, sourcePort, target }: HeldPort): TracedFlow {
  return {
    family: familyOf(target.address) === 'IPv4' ? 'ip' : 'ip6',
    protocol: target.protocol === 'TCP' ? PROTOCOL_TCP : PROTOCOL_UDP,
    ...(source === undefined ? {} : { source }),
    sourcePort,
  };
}

/** Where only the port is compared, a client of another network namespace may have the same one. */
function begunBy(
  events: readonly TraceEvent[],
  from: { readonly source: string; readonly sourcePort: number },
): readonly TraceEvent[] {
  const isFirst = ({ packet }: TraceEvent): boolean =>
    packet?.source === from.source && packet.sourcePort === from.sourcePort;
  const begin = events.findIndex(isFirst);
  return begin < 0 ? [] : events.slice(begin);
}

/** The rules that it met, and before them the programs. */
async function pathOf(
  seen: { readonly events: readonly TraceEvent[]; readonly answer: ProbeAnswer },
  proven: ProvenCase & {
    readonly probe: PlannedProbe;
    readonly port: HeldPort;
    /** The address that the probe has. */
    readonly source: string;
  },
): Promise<Path | string> {
  const { mode, isAtSocket } = proven.probe;
  const { facts } = proven.desired;
  const front = mode.front && {
    front: mode.front,
    facts,
    found: proven.found,
    source: proven.sourceClass,
  };
  const endpoint = mode.front?.connectedTo(proven.port.fd, proven.pinFolder);
  if (front === undefined || !isAtSocket) {
    if (endpoint !== undefined) return SERVED_AS_POD;
    return await readPath(seen, { ...proven, mode, ...(front ? { front } : {}) });
  }
  const path = await readPath(seen, { ...proven, mode });
  const steps = [...socketSteps(front, endpoint), ...path.steps];
  if (endpoint === undefined) return { ...path, steps };
  if (path.outcome.is === 'forwarded') {
    return { outcome: { ...path.outcome, byProgram: 'socket' }, steps };
  }
  // A connection to its own host does not come to the rules of this network namespace.
  if (seen.events.length > 0 || seen.answer.is === 'silent') return { ...path, steps };
  const seenAs = endpointKey({ address: proven.source, port: proven.port.sourcePort });
  return { outcome: { is: 'forwarded', endpoint, seenAs, byProgram: 'socket' }, steps };
}

/** A full accept queue drops packets without a trace. Of an endpoint on this node only. */
async function acceptQueueOf(
  outcome: Observed,
  { answer, protocol }: { readonly answer: ProbeAnswer; readonly protocol: 'TCP' | 'UDP' },
): Promise<Pick<ProvenPacket, 'acceptQueue'>> {
  if (outcome.is !== 'forwarded' || answer.is !== 'silent' || protocol !== 'TCP') return {};
  const end = outcome.endpoint.lastIndexOf(':');
  const address = outcome.endpoint.slice(0, end).replace(/^\[|\]$/g, '');
  const path = await namespaceOfAddress(address);
  if (path === undefined) return {};
  const open = (options: { protocol: number }) =>
    insideNetworkNamespace(path, () => openNetlink(options));
  const acceptQueue = await acceptQueueAt(Number(outcome.endpoint.slice(end + 1)), open);
  return acceptQueue === undefined ? {} : { acceptQueue };
}

/** What stays after the probe, in words. */
async function leftBehind(
  outcome: Observed,
  proven: ProvenCase & { readonly probe: PlannedProbe; readonly first: SentPacket },
): Promise<readonly string[]> {
  const { affinitySeconds, first } = proven;
  const { kind, mode } = proven.probe;
  if (outcome.is !== 'forwarded') return [];
  const affinity = `an affinity entry of ${first.source} for ${affinitySeconds} s`;
  return [
    ...(affinitySeconds > 0 ? [affinity] : []),
    ...(mode.leftBehind === undefined ? [] : [mode.leftBehind]),
    ...(kind === 'dry' && outcome.byProgram === 'packet' ? await removeEntry(first) : []),
  ];
}

/** The program has made the entry before the packet is dropped. */
async function removeEntry(first: SentPacket): Promise<readonly string[]> {
  const flow = await findFlow(first);
  if (flow !== undefined) await new KernelConntrack().remove([flow]);
  return (await findFlow(first)) === undefined ? [] : ['a conntrack entry'];
}

/** What a process of the mode did with a connection that it got, while that is open. */
async function followed(
  outcome: Observed,
  sent: {
    readonly probe: PlannedProbe;
    readonly port: HeldPort;
    readonly source: string;
    readonly answer: ProbeAnswer;
    readonly runFolder: string;
    readonly signal: AbortSignal;
  },
): Promise<Observed> {
  const { probe, port, source, answer, runFolder, signal } = sent;
  const { connectedTo } = probe.mode;
  const isOpen = probe.kind === 'connect' && answer.is === 'accepted';
  if (outcome.is !== 'handed over' || !isOpen || connectedTo === undefined) return outcome;
  const client = { address: source, port: port.sourcePort };
  const found = await connectedTo({ runFolder, client, signal });
  if (found === undefined) return { is: 'handed over', reached: false };
  const { endpoint, source: seenAs } = found;
  return { is: 'forwarded', endpoint, seenAs, byProgram: 'process' };
}

/** How long a drop may come after the answer; undefined: all is told without one. */
function dropTimeoutMs({
  kind,
  outcome,
  answer,
  large,
}: Pick<ProvenPacket, 'kind' | 'outcome' | 'answer' | 'large'>): number | undefined {
  if (large !== undefined && !large.isCarried) return LATE_DROP_MS;
  if (outcome.is === 'lost' || answer.is === 'refused' || answer.is === 'unreachable') {
    return LATE_DROP_MS;
  }
  const isOnItsWay = outcome.is === 'forwarded' || outcome.is === 'passed';
  const isAwaited = kind !== 'dry' && isOnItsWay && answer.is === 'silent';
  return isAwaited ? NEIGHBOUR_MS - ANSWER_TIMEOUT_MS : undefined;
}

async function sendAndWait(
  probe: PlannedProbe,
  port: HeldPort,
  { trace, signal }: { readonly trace: PacketTrace; readonly signal: AbortSignal },
): Promise<Pick<ProvenPacket, 'answer' | 'source' | 'large'>> {
  const isOver = (events: readonly TraceEvent[]): boolean =>
    events.some(({ verdict }) => verdict === 'drop');
  const settled = new AbortController();
  const wait = { timeoutMs: ANSWER_TIMEOUT_MS, signal };
  using sent = send(probe, port);
  // Before an answer: a socket that was reset has no address any more.
  const source = port.source ?? ownAddress(port.fd).address;
  void trace.until(isOver, wait).then(async (isDropped) => {
    if (isDropped) await sleep(AFTER_END_MS);
    settled.abort();
  });
  const answer = await probeAnswer(sent, port, { ...wait, signal: settled.signal });
  await trace.until(hasEnd, { timeoutMs: EVENTS_TIMEOUT_MS, signal });
  if (probe.size === undefined || answer.is !== 'accepted') return { answer, source };
  const large = await sendLarge(port.fd, probe.size, { timeoutMs: LARGE_TIMEOUT_MS, signal });
  return { answer, source, large };
}

/** A hook meets sockets that connect; else a single SYN does. */
function send({ kind, protocol, isAtSocket }: PlannedProbe, port: HeldPort): SentProbe {
  if (protocol === 'UDP') return sendDatagram(port);
  const { source } = port;
  if (kind === 'connect' || isAtSocket || source === undefined) return startConnection(port);
  return sendSyn({ ...port, source });
}

/** The packet has met all rules, or one dropped it. */
function hasEnd(events: readonly TraceEvent[]): boolean {
  return events.some(
    ({ table, chain, verdict }) =>
      verdict === 'drop' || (table === PROBE_TABLE_NAME && LAST.includes(chain)),
  );
}
