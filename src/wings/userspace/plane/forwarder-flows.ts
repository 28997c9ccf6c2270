import { FORWARDER_ADDRESSES } from '../../../dataplanes/shared/forwarder-addresses.ts';
import { addressBytes } from '../../../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../../../linux/conntrack/conntrack.ts';
import {
  PROTOCOL_TCP,
  STATUS_DST_NAT,
  STATUS_SEEN_REPLY,
  TCP_ESTABLISHED,
  TCP_SYN_SENT,
} from '../../../linux/conntrack/conntrack-protocol.ts';
import type { Flow, FlowTuple } from '../../../linux/conntrack/flow.ts';
import { type FlowQuestion, passesFilter } from '../../../linux/conntrack/question.ts';
import type { Answers, WireConnection } from './forwarder-protocol.ts';
import { currentSockets } from './run-files.ts';
import { askOnce } from './running.ts';

const DEADLINE_MS = 10_000;
/** More than a forwarder can hold. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Where conntrack entries lead that only hand a connection over to the forwarder. */
export const LISTENER_ADDRESSES: readonly string[] = Object.values(FORWARDER_ADDRESSES);

/** The first connections of the running forwarder; undefined: there is none. */
export async function readConnections(options: {
  readonly runFolder: string;
  readonly most: number;
}): Promise<Answers['connections'] | undefined> {
  const { control } = currentSockets(options.runFolder);
  return await askOnce(control, { do: 'connections', most: options.most }, DEADLINE_MS);
}

/**
 * The connections of the forwarder as flows: conntrack has only the way from the client to the
 * forwarder, which does not name the endpoint.
 */
export class ForwarderFlows implements Conntrack {
  readonly #control: string;
  readonly #connections = new WeakMap<Flow, WireConnection>();

  constructor(runFolder: string) {
    this.#control = currentSockets(runFolder).control;
  }

  filtersCheaply(): boolean {
    return true;
  }

  async *flows(question: FlowQuestion, signal: AbortSignal): AsyncGenerator<readonly Flow[]> {
    // Its attempts go on to another endpoint by themselves when one is removed.
    const isForAttempts = question.unansweredTcpOnly || question.isForAttempts;
    if (!question.protocols.has(PROTOCOL_TCP) || isForAttempts) return;
    const request = { do: 'connections', most: ALL } as const;
    const answer = await askOnce(this.#control, request, DEADLINE_MS);
    if (answer === undefined || signal.aborted) return;
    const flows: Flow[] = [];
    for (const connection of answer.first) {
      const flow = flowOf(connection);
      if (!isAskedFor(flow, question)) continue;
      this.#connections.set(flow, connection);
      flows.push(flow);
    }
    if (flows.length > 0) yield flows;
  }

  /** Both ends are reset. */
  async remove(flows: readonly Flow[]): Promise<readonly Flow[]> {
    const ended: Flow[] = [];
    for (const flow of flows) {
      const connection = this.#connections.get(flow);
      if (connection === undefined) continue;
      const { client, frontend } = connection;
      const request = { do: 'end', connections: [{ client, frontend }] } as const;
      const answer = await askOnce(this.#control, request, DEADLINE_MS);
      if (answer && answer.ended > 0) ended.push(flow);
    }
    return ended;
  }
}

function isAskedFor(flow: Flow, { destinationPorts, filter }: FlowQuestion): boolean {
  if (!destinationPorts.has(flow.original.destinationPort)) return false;
  return filter === undefined || passesFilter(filter, flow);
}

function flowOf({ client, frontend, source, endpoint, state }: WireConnection): Flow {
  const original = tuple(client, frontend);
  const isDialling = state === 'dialling';
  return {
    version: original.source.length === 4 ? 4 : 6,
    protocol: PROTOCOL_TCP,
    original,
    reply: tuple(endpoint, source),
    status: STATUS_DST_NAT | (isDialling ? 0 : STATUS_SEEN_REPLY),
    id: 0,
    zone: 0,
    mark: 0,
    timeoutSeconds: 0,
    tcpState: isDialling ? TCP_SYN_SENT : TCP_ESTABLISHED,
  };
}

/** Both as `address port`; empty: not known. */
function tuple(from: string, to: string): FlowTuple {
  const [source = '', sourcePort = '0'] = from.split(' ');
  const [destination = '', destinationPort = '0'] = to.split(' ');
  return {
    source: addressBytes(source) ?? '',
    sourcePort: Number(sourcePort),
    destination: addressBytes(destination) ?? '',
    destinationPort: Number(destinationPort),
  };
}
