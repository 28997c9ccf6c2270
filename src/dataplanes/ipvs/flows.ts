import { addressText } from '../../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../../linux/conntrack/conntrack.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import { PROTOCOL_UDP } from '../../linux/conntrack/protocol.ts';
import type { FlowQuestion } from '../../linux/conntrack/question.ts';
import { withIpvs } from '../../linux/ipvs/errors.ts';
import {
  type Ipvs,
  type IpvsWrite,
  type VirtualServerKey,
  virtualServerId,
} from '../../linux/ipvs/model.ts';
import type { CaptureTables } from './capture/model.ts';
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
 */
export class IpvsFlows implements Conntrack {
  readonly #conntrack: Conntrack;
  readonly #ipvs: Ipvs;
  readonly #capture: Pick<CaptureTables, 'read'>;

  constructor({ conntrack, ipvs, capture }: IpvsFlowsParts) {
    this.#conntrack = conntrack;
    this.#ipvs = ipvs;
    this.#capture = capture;
  }

  filtersCheaply(): boolean {
    return this.#conntrack.filtersCheaply();
  }

  flows(question: FlowQuestion, signal: AbortSignal): AsyncIterable<readonly Flow[]> {
    return this.#conntrack.flows(question, signal);
  }

  /** The destination first: a packet in between would make the conntrack entry anew, for IPVS's flow. */
  async remove(flows: readonly Flow[]): Promise<readonly Flow[]> {
    await this.#deleteDestinations(flows.filter(({ protocol }) => protocol === PROTOCOL_UDP));
    return await this.#conntrack.remove(flows);
  }

  async #deleteDestinations(flows: readonly Flow[]): Promise<void> {
    if (flows.length === 0) return;
    const wanted = staleByServer(flows);
    const servers = [...wanted.values()].map(({ server }) => server);
    const found = await withIpvs(() => this.#ipvs.destinationsOf(servers), NONE);
    const writes: IpvsWrite[] = [];
    for (const [id, destinations] of found) {
      const stale = wanted.get(id);
      if (stale === undefined) continue;
      for (const { address, port, weight } of destinations) {
        const isStale = weight === 0 && stale.destinations.has(destinationId({ address, port }));
        const destination = { address, port, weight };
        if (isStale) writes.push({ do: 'delete-destination', server: stale.server, destination });
      }
    }
    if (writes.length > 0) await this.#writeOurs(writes);
  }

  /** A destination of another process may have weight 0 as well, in a virtual server that stays its own. */
  async #writeOurs(writes: readonly IpvsWrite[]): Promise<void> {
    const { servers } = await this.#capture.read();
    const ours = writes.filter(({ server }) => servers.has(virtualServerId(server)));
    // One that is refused is gone already, or drains on; its conntrack entry goes in any case.
    if (ours.length > 0) await this.#ipvs.write(ours);
  }
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
