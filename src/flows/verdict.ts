import type { Forwarding, ServicePortId } from '../forwarding/model.ts';
import type { AddressBytes } from '../linux/conntrack/address-bytes.ts';
import {
  PROTOCOL_TCP,
  STATUS_DST_NAT,
  STATUS_SEEN_REPLY,
  TCP_SYN_SENT,
} from '../linux/conntrack/conntrack-protocol.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import type { BegunFrontends } from './begun.ts';
import {
  addressKey,
  type EndpointKey,
  endpointKey,
  endpointKeys,
  type FrontendKey,
  nodePortKey,
} from './flow-keys.ts';
import type { Needs } from './needs.ts';

export type StaleReason =
  /** The frontend exists, and the flow goes to none of its endpoints. */
  | 'endpoint-gone'
  /** The frontend was removed, and the flow goes to one of its former endpoints. */
  | 'frontend-gone'
  /** The flow is older than the frontend and goes untranslated to its address. */
  | 'never-translated';

export interface StaleVerdict {
  readonly is: 'stale';
  readonly id: ServicePortId;
  readonly reason: StaleReason;
}

export type Verdict =
  | StaleVerdict
  /** Stale, but its endpoint still serves: check again later. */
  | { readonly is: 'draining'; readonly key: FrontendKey }
  /** May still be answered: check again later. */
  | { readonly is: 'young try'; readonly row: Forwarding }
  | { readonly is: 'none of ours' | 'valid' | 'left alone' };

/** The state that flows are compared with. */
export interface Grounds {
  /** The frontends to check; other flows are ignored. */
  readonly needs: Needs;
  owner(key: FrontendKey): Forwarding | undefined;
  isNodePortAddress(address: AddressBytes): boolean;
  /** Whether packets of this source match the rules; default: all do. */
  isClient?(address: AddressBytes): boolean;
  /** Whether an endpoint that gets no new flows still serves its old ones. */
  isServing(id: ServicePortId, endpoint: { address: AddressBytes; port: number }): boolean;
  /** For TCP: only connection attempts older than their rules are stale. */
  readonly tries: TryGrounds;
}

export interface TryGrounds {
  readonly begun: BegunFrontends;
  isLeftUnanswered(flow: Flow): boolean;
}

/** Decides whether a flow is stale, by the current rows. Caches lookups for one pass. */
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

  /** Untranslated because its client is not served; deleting it would change nothing. */
  #isOfOthers(flow: Flow): boolean {
    return isUntranslated(flow) && this.#grounds.isClient?.(flow.original.source) === false;
  }

  /** The frontend has no owner: only flows that Fairlead translated may be deleted. */
  #judgeOrphan(flow: Flow, keys: readonly FrontendKey[], endpoint: EndpointKey): Verdict {
    const need = keys
      .flatMap((key) => this.#grounds.needs.get(key) ?? [])
      .find(({ former }) => former.has(endpoint));
    if (need === undefined || goesWhereItWasSent(flow)) return { is: 'valid' };
    return { is: 'stale', id: need.id, reason: 'frontend-gone' };
  }

  /** Frontends that the first packet may match, by address before node port. */
  #keysOf({ version, protocol, original }: Flow): FrontendKey[] {
    const { destination, destinationPort } = original;
    const key = addressKey(protocol, destination, destinationPort);
    if (!this.#grounds.isNodePortAddress(destination)) return [key];
    return [key, nodePortKey(version, protocol, destinationPort)];
  }

  /**
   * A client that connects before there are rules sends its SYN to the Service address itself, and
   * conntrack keeps the entry for two minutes, so retransmissions go there too. Deleting an entry
   * without a reply loses nothing.
   */
  #judgeTry(flow: Flow, tries: TryGrounds): Verdict {
    const owner = isTry(flow) ? tries.begun.ownerOf(flow) : undefined;
    if (owner === undefined || this.#isOfOthers(flow)) return { is: 'left alone' };
    // An endpoint can have the address and port of its Service: then translation is invisible.
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

/** Only SYNs were seen, untranslated. */
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
