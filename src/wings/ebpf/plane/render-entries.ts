import { endpointKey } from '../../../forwarding/endpoints.ts';
import type { Forwarding, Frontend, SourceClass } from '../../../forwarding/model.ts';
import { frontendText } from './maps/entry-text.ts';
import { CLASS_ORDER, MOST_ENDPOINTS } from './maps/layout.ts';
import { frontendKeyOf, sequenceOf, servedFrontends } from './maps/map-row.ts';
import type { PodNetwork } from './maps/pod-network-entry.ts';

/** An entry of a map, and what it does in a sentence. */
export interface RenderedEntry {
  readonly map: string;
  readonly text: string;
  readonly does: string;
  /** Of a frontend: whose connections it is for. */
  readonly source?: SourceClass;
  /** Of a frontend: the hook leaves them to the rules behind. */
  readonly isPassed?: boolean;
  /** Of a slot: `address:port`. */
  readonly endpoint?: string;
}

/**
 * Where pods are served: at their sockets, or by their packets like outside clients; then the pod
 * network matters.
 */
export type RenderedPlace = {
  /** Addresses that the node has itself. */
  readonly ownAddresses?: ReadonlySet<string>;
  /** The hooks serve only the node itself. */
  readonly onlyOwnSockets: boolean;
} & (
  | { readonly podsMet: 'at sockets' }
  | { readonly podsMet: 'as packets'; readonly podNetwork: PodNetwork }
);

/**
 * The entries of one frontend. Where in the map its endpoints are is decided when they are written,
 * so slots count from the first of the service port.
 */
export function renderedEntries(
  row: Forwarding,
  frontend: Frontend,
  place: RenderedPlace,
): RenderedEntry[] {
  const served = servedFrontends(row);
  if (!served.includes(frontend)) return [];
  const network = place.podsMet === 'as packets' ? place.podNetwork : undefined;
  const { endpoints, lists, isBeyond, isTooLong } = sequenceOf(row, served, network);
  const isMet = (source: SourceClass): boolean =>
    source === 'host' ||
    (!place.onlyOwnSockets && (source === 'pod' || place.podsMet === 'as packets'));
  const entries = CLASS_ORDER.filter(isMet).map((source) => {
    const outcome = frontend.outcomes[source];
    const { offset, count } =
      outcome.action === 'forward' ? lists[outcome.list] : { offset: 0, count: 0 };
    const slots = count === 0 ? '' : ` slots +${offset}..+${offset + count - 1}`;
    const by = source === 'host' || place.podsMet === 'at sockets' ? 'socket' : 'packet';
    const reason =
      whyLeftByBoth(frontend, place, isTooLong) ??
      (by === 'socket'
        ? whyLeftAtSockets(frontend, source)
        : whyLeftAsPackets(frontend, source, isBeyond));
    return {
      map: 'frontends',
      text: `${keyText(row, frontend)} from ${source} :${slots || ` ${outcome.action}`}`,
      does: reason === undefined ? chooses(row, count, by) : `passes the hook: ${reason}`,
      source,
      isPassed: reason !== undefined || count === 0,
    };
  });
  const slots = endpoints.map((each, index) => {
    const endpoint = endpointKey(each);
    return { map: 'slots', text: `+${index} : ${endpoint}`, does: '', endpoint };
  });
  return [...entries, ...slots];
}

function keyText(row: Forwarding, frontend: Frontend): string {
  return frontendText(frontendKeyOf(row, frontend)).replace(/^ebpf frontends \{ (.*) \}$/, '$1');
}

/** As decide() in bpf/pick.h, and lists that no outcome can count. */
function whyLeftByBoth(
  { address }: Frontend,
  { ownAddresses }: RenderedPlace,
  isTooLong: boolean,
): string | undefined {
  if (ownAddresses?.has(address)) return 'the node has this address itself';
  return isTooLong ? `it has more than ${MOST_ENDPOINTS} endpoints` : undefined;
}

/** As is_for_sockets in bpf/sock.bpf.c decides; undefined: the hook serves it. */
function whyLeftAtSockets(
  { outcomes, allowedSources }: Frontend,
  source: SourceClass,
): string | undefined {
  const outcome = outcomes[source];
  if (outcome.action !== 'forward') return `nftables ${outcome.action}s it`;
  if (allowedSources) return 'its source address is known only after routing';
  if (source === 'pod' && outcome.masquerade) return 'it must be masqueraded';
  return undefined;
}

/** As is_for_packets in bpf/tc.bpf.c decides. */
function whyLeftAsPackets(
  { outcomes, allowedSources }: Frontend,
  source: SourceClass,
  isBeyond: boolean,
): string | undefined {
  const outcome = outcomes[source];
  if (outcome.action !== 'forward') return `nftables ${outcome.action}s it`;
  if (allowedSources) return 'nftables checks its source address';
  if (isBeyond && !outcome.masquerade) {
    return 'it leaves the pod network, where another host may masquerade it';
  }
  return undefined;
}

function chooses({ affinitySeconds }: Forwarding, count: number, by: 'socket' | 'packet'): string {
  if (count === 0) return 'passes the hook: there is no endpoint';
  const one = count === 1 ? 'the only endpoint' : `one of ${count} endpoints`;
  const stays = affinitySeconds > 0 ? `, the same for ${affinitySeconds} s` : '';
  return `the ${by === 'socket' ? 'socket' : 'connection'} gets ${one}${stays}`;
}
