import type { Forwarding, ServicePortId } from '../forwarding/model.ts';
import type { AddressBytes } from '../linux/conntrack/address-bytes.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import {
  PROTOCOL_TCP,
  STATUS_DST_NAT,
  STATUS_SEEN_REPLY,
  TCP_SYN_SENT,
} from '../linux/conntrack/protocol.ts';
import type { BegunFrontends } from './begun.ts';
import {
  addressKey,
  type EndpointKey,
  endpointKey,
  endpointKeys,
  type FrontendKey,
  nodePortKey,
} from './keys.ts';
import type { Needs } from './needs.ts';

export type StaleReason =
  /** The frontend is there, and where the flow goes is none of its endpoints. */
  | 'endpoint-gone'
  /** The frontend has gone, and the flow goes to an endpoint that it had. */
  | 'frontend-gone'
  /** The flow is older than the frontend and goes to its address itself, where nobody is. */
  | 'never-translated';

export interface StaleVerdict {
  readonly is: 'stale';
  readonly id: ServicePortId;
  readonly reason: StaleReason;
}

export type Verdict =
  | StaleVerdict
  /** It would be stale, but its endpoint still serves: to be looked at again. */
  | { readonly is: 'draining'; readonly key: FrontendKey }
  /** Somebody may still answer it: to be looked at again. */
  | { readonly is: 'young try'; readonly row: Forwarding }
  | { readonly is: 'none of ours' | 'valid' | 'left alone' };

/** What flows are judged by. */
export interface Grounds {
  /** The frontends in question; flows to others are none of ours. */
  readonly needs: Needs;
  owner(key: FrontendKey): Forwarding | undefined;
  isNodePortAddress(address: AddressBytes): boolean;
  /** Whether what this source sends meets the rules; not given: everybody's does. */
  isClient?(address: AddressBytes): boolean;
  /** Whether an endpoint that is no longer chosen still serves the flows it has. */
  isServing(id: ServicePortId, endpoint: { address: AddressBytes; port: number }): boolean;
  /** For TCP, of which only connection attempts older than their rules are stale. */
  readonly tries: TryGrounds;
}

export interface TryGrounds {
  readonly begun: BegunFrontends;
  isLeftUnanswered(flow: Flow): boolean;
}

/** Judges each flow by the rows of the moment. Lives as long as one look, for what it remembers. */
export class Judge {
  readonly #grounds: Grounds;
  readonly #endpoints = new Map<Forwarding, ReadonlySet<EndpointKey>>();

  constructor(grounds: Grounds) {
    this.#grounds = grounds;
  }

  judge(flow: Flow): Verdict {
    if (flow.protocol === PROTOCOL_TCP) return this.#judgeTry(flow, this.#grounds.tries);
    const keys = flow.zone === 0 ? this.#keysOf(flow) : [];
    const asked = keys.find((key) => this.#grounds.needs.has(key));
    if (asked === undefined || this.#isOfOthers(flow)) return { is: 'none of ours' };
    const { reply } = flow;
    const endpoint = endpointKey(reply.source, reply.sourcePort);
    const owners = keys.flatMap((key) => this.#grounds.owner(key) ?? []);
    if (owners.some((owner) => this.#endpointsOf(owner).has(endpoint))) return { is: 'valid' };
    const [owner] = owners;
    if (owner === undefined) return this.#judgeOrphan(flow, keys, endpoint);
    const isUntouched = isUntranslated(flow);
    if (!isUntouched && this.#isServing(owner.id, flow)) return { is: 'draining', key: asked };
    const reason = isUntouched ? 'never-translated' : 'endpoint-gone';
    return { is: 'stale', id: owner.id, reason };
  }

  /** It went where it was sent because its client is not served, and would go there again. */
  #isOfOthers(flow: Flow): boolean {
    return isUntranslated(flow) && this.#grounds.isClient?.(flow.original.source) === false;
  }

  /** Nobody has the frontend any more: only what we have translated ourselves may go. */
  #judgeOrphan(flow: Flow, keys: readonly FrontendKey[], endpoint: EndpointKey): Verdict {
    const need = keys
      .flatMap((key) => this.#grounds.needs.get(key) ?? [])
      .find(({ former }) => former.has(endpoint));
    if (need === undefined || goesWhereItWasSent(flow)) return { is: 'valid' };
    return { is: 'stale', id: need.id, reason: 'frontend-gone' };
  }

  /** The frontends that the first packet may have met, the one of an address before a node port. */
  #keysOf({ version, protocol, original }: Flow): FrontendKey[] {
    const { destination, destinationPort } = original;
    const key = addressKey(protocol, destination, destinationPort);
    if (!this.#grounds.isNodePortAddress(destination)) return [key];
    return [key, nodePortKey(version, protocol, destinationPort)];
  }

  /**
   * A client that connects before there are rules sends its SYN to the Service address itself, and the
   * kernel remembers that for two minutes: its retransmissions would go there too until it gives up.
   * Nothing is lost with the memory of a connection that nobody will answer.
   */
  #judgeTry(flow: Flow, tries: TryGrounds): Verdict {
    const owner = isTry(flow) ? tries.begun.ownerOf(flow) : undefined;
    if (owner === undefined || this.#isOfOthers(flow)) return { is: 'left alone' };
    // An endpoint can have the address and the port of its Service: translation leaves no trace then.
    const { source, sourcePort } = flow.reply;
    if (this.#endpointsOf(owner).has(endpointKey(source, sourcePort))) return { is: 'valid' };
    if (!tries.isLeftUnanswered(flow)) return { is: 'young try', row: owner };
    return { is: 'stale', id: owner.id, reason: 'never-translated' };
  }

  #isServing(id: ServicePortId, { reply }: Flow): boolean {
    return this.#grounds.isServing(id, { address: reply.source, port: reply.sourcePort });
  }

  #endpointsOf(row: Forwarding): ReadonlySet<EndpointKey> {
    const known = this.#endpoints.get(row);
    if (known) return known;
    const keys = endpointKeys(row);
    this.#endpoints.set(row, keys);
    return keys;
  }
}

/** Nothing but SYNs has been seen of it, and they go where they were sent. */
function isTry(flow: Flow): boolean {
  return (
    flow.zone === 0 &&
    flow.tcpState === TCP_SYN_SENT &&
    (flow.status & STATUS_SEEN_REPLY) === 0 &&
    isUntranslated(flow)
  );
}

function isUntranslated(flow: Flow): boolean {
  return goesWhereItWasSent(flow) && (flow.status & STATUS_DST_NAT) === 0;
}

function goesWhereItWasSent({ original, reply }: Flow): boolean {
  return reply.source === original.destination && reply.sourcePort === original.destinationPort;
}
