import { addressBytes, addressText } from '../../../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../../../linux/conntrack/conntrack.ts';
import { PROTOCOL_UDP, STATUS_DST_NAT } from '../../../linux/conntrack/conntrack-protocol.ts';
import type { Flow } from '../../../linux/conntrack/flow.ts';
import type { FlowQuestion } from '../../../linux/conntrack/question.ts';
import { withIpvs } from '../../../linux/ipvs/ipvs-error.ts';
import {
  type Destination,
  type DestinationState,
  type Ipvs,
  type IpvsWrite,
  type VirtualServerKey,
  virtualServerId,
} from '../../../linux/ipvs/ipvs-model.ts';
import type { CaptureTables } from './capture/capture-model.ts';
import { destinationId } from './server-state.ts';

const NONE: Awaited<ReturnType<Ipvs['destinationsOf']>> = new Map();

export interface IpvsFlowsParts {
  readonly conntrack: Conntrack;
  readonly ipvs: Ipvs;
  readonly capture: Pick<CaptureTables, 'read'>;
}

/**
 * Conntrack, where IPVS has UDP flows of its own: they would go on to an endpoint that is gone after
 * their conntrack entry was deleted. IPVS deletes no single flow, but forgets those of a destination
 * that is deleted.
 *
 * IPVS may also have flows that conntrack has forgotten: the kernel deletes the entries of masqueraded
 * flows with the interface that they leave by, which is that of a pod of this node. Their next packet
 * would make the entry anew, to a pod that is gone.
 */
export class IpvsFlows implements Conntrack {
  readonly #conntrack: Conntrack;
  readonly #ipvs: Ipvs;
  readonly #capture: Pick<CaptureTables, 'read'>;
  /** Flows that stand for a destination. */
  readonly #ofDestinations = new WeakSet<Flow>();

  constructor({ conntrack, ipvs, capture }: IpvsFlowsParts) {
    this.#conntrack = conntrack;
    this.#ipvs = ipvs;
    this.#capture = capture;
  }

  filtersCheaply(): boolean {
    return this.#conntrack.filtersCheaply();
  }

  async *flows(question: FlowQuestion, signal: AbortSignal): AsyncGenerator<readonly Flow[]> {
    yield* this.#conntrack.flows(question, signal);
    if (!question.protocols.has(PROTOCOL_UDP) || question.isForAttempts) return;
    const servers = await this.#serversFor(question);
    const found = await this.#destinationsOf(servers);
    const left = servers.flatMap((server) =>
      (found.get(virtualServerId(server)) ?? [])
        .filter(isDraining)
        .flatMap((destination) => flowTo(server, destination) ?? []),
    );
    for (const flow of left) this.#ofDestinations.add(flow);
    if (left.length > 0) yield left;
  }

  /** The destination first: a packet in between would make the conntrack entry anew, for IPVS's flow. */
  async remove(flows: readonly Flow[]): Promise<readonly Flow[]> {
    const isEntry = (flow: Flow): boolean => !this.#ofDestinations.has(flow);
    const ofUdp = flows.filter(({ protocol }) => protocol === PROTOCOL_UDP);
    const deleted = await this.#deleteDestinations(ofUdp);
    const forgotten = flows.filter((flow) => !isEntry(flow) && deleted.has(goalOf(flow)));
    return [...(await this.#conntrack.remove(flows.filter(isEntry))), ...forgotten];
  }

  /** One that is known by its address need not be looked for among all of ours. */
  async #serversFor(question: FlowQuestion): Promise<readonly VirtualServerKey[]> {
    const { filter, destinationPorts } = question;
    if (filter?.destination !== undefined) {
      const { destination, destinationPort: port } = filter;
      return [{ protocol: 'UDP', address: addressText(destination), port }];
    }
    const { servers } = await this.#capture.read();
    return [...servers.values()].filter(
      ({ protocol, port }) => protocol === 'UDP' && destinationPorts.has(port),
    );
  }

  async #destinationsOf(servers: readonly VirtualServerKey[]): Promise<typeof NONE> {
    if (servers.length === 0) return NONE;
    return await withIpvs(() => this.#ipvs.destinationsOf(servers), NONE);
  }

  /** Gives those that it deleted, as `goalOf` a flow. */
  async #deleteDestinations(flows: readonly Flow[]): Promise<ReadonlySet<string>> {
    if (flows.length === 0) return new Set();
    const wanted = staleByServer(flows);
    const found = await this.#destinationsOf([...wanted.values()].map(({ server }) => server));
    const writes: Deletion[] = [];
    for (const [id, destinations] of found) {
      const stale = wanted.get(id);
      if (stale === undefined) continue;
      for (const { address, port, weight } of destinations) {
        const isStale = weight === 0 && stale.destinations.has(destinationId({ address, port }));
        const destination = { address, port, weight };
        if (isStale) writes.push({ do: 'delete-destination', server: stale.server, destination });
      }
    }
    return writes.length > 0 ? await this.#deleteOurs(writes) : new Set();
  }

  /** A destination of another process may have weight 0 as well, in a virtual server that stays its own. */
  async #deleteOurs(writes: readonly Deletion[]): Promise<ReadonlySet<string>> {
    const { servers } = await this.#capture.read();
    const ours = writes.filter(({ server }) => servers.has(virtualServerId(server)));
    // One that is rejected is gone already, or drains on; its conntrack entry goes in any case.
    if (ours.length > 0) await this.#ipvs.write(ours);
    return new Set(ours.map(({ server, destination }) => goalId(server, destination)));
  }
}

type Deletion = Extract<IpvsWrite, { readonly destination: Destination }>;

/** A virtual server and a destination of it. */
function goalId(server: VirtualServerKey, to: Parameters<typeof destinationId>[0]): string {
  return `${virtualServerId(server)} ${destinationId(to)}`;
}

function goalOf({ original, reply }: Flow): string {
  const address = addressText(original.destination);
  const server = { protocol: 'UDP', address, port: original.destinationPort } as const;
  return goalId(server, { address: addressText(reply.source), port: reply.sourcePort });
}

/** It gets no new flows, and has some. */
function isDraining({ weight, activeConnections, inactiveConnections }: DestinationState): boolean {
  return weight === 0 && activeConnections + inactiveConnections > 0;
}

/** Stands for all flows that IPVS sends there, whoever their clients are. */
function flowTo(server: VirtualServerKey, to: DestinationState): Flow | undefined {
  const [address, endpoint] = [addressBytes(server.address), addressBytes(to.address)];
  if (address === undefined || endpoint === undefined) return undefined;
  const client = { source: '', sourcePort: 0 };
  const answered = { destination: '', destinationPort: 0 };
  return {
    version: address.length === 4 ? 4 : 6,
    protocol: PROTOCOL_UDP,
    original: { ...client, destination: address, destinationPort: server.port },
    reply: { ...answered, source: endpoint, sourcePort: to.port },
    status: STATUS_DST_NAT,
    ...{ id: 0, zone: 0, mark: 0, timeoutSeconds: 0, tcpState: undefined },
  };
}

interface Stale {
  readonly server: VirtualServerKey;
  /** By `destinationId`. */
  readonly destinations: Set<string>;
}

/** Where the flows go, by `virtualServerId` of the address that their clients sent to. */
function staleByServer(flows: readonly Flow[]): ReadonlyMap<string, Stale> {
  const stale = new Map<string, Stale>();
  for (const { original, reply } of flows) {
    const address = addressText(original.destination);
    const server = { protocol: 'UDP', address, port: original.destinationPort } as const;
    const known = stale.get(virtualServerId(server)) ?? { server, destinations: new Set() };
    const to = { address: addressText(reply.source), port: reply.sourcePort };
    known.destinations.add(destinationId(to));
    stale.set(virtualServerId(server), known);
  }
  return stale;
}
