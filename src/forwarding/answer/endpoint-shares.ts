import type { Candidate, Verdict } from '../candidates.ts';
import { endpointKey } from '../endpoints.ts';
import type { EndpointList } from '../model.ts';
import type { Source } from './connection-source.ts';
import { isOwnAddress, type Place } from './place.ts';
import type { Prediction } from './prediction.ts';

/** An endpoint of the slices, and what it gets of new connections. */
export interface EndpointShare {
  /** `address:port`. */
  readonly endpoint: string;
  /** Empty: not known. */
  readonly nodeName: string;
  readonly local: boolean;
  readonly state: Candidate['state'];
  readonly selected: boolean;
  /** It gets one of so many new connections; undefined: none, or `chosenIf` says which. */
  readonly oneOf?: number;
  /** Which connections it gets, where they are not shared evenly. */
  readonly chosenIf?: string;
  /** Why it gets none. */
  readonly because?: Exclude<Verdict, 'selected'> | 'the connection is not forwarded';
  /** The client is the endpoint itself. */
  readonly hairpin?: true;
  /**
   * It has an address of this node: the packet is delivered and not routed, so that it is not
   * masqueraded although others are.
   */
  readonly keepsSource?: true;
  /** It sees an address of this node although others see the client's: a process connects to it. */
  readonly nodeSource?: true;
}

/** Every endpoint of the row that was considered; the reasons are those of the selection. */
export function sharesOf(
  prediction: Prediction,
  candidates: readonly Candidate[],
  { source, place }: { readonly source: Source; readonly place: Place },
): readonly EndpointShare[] {
  const list = listOf(prediction, candidates);
  const chosen = new Set(
    prediction.action === 'forward' ? prediction.endpoints.map(endpointKey) : [],
  );
  const share = shareOf(prediction, source, place);
  return candidates.map((candidate) => {
    const { nodeName, local, state, address } = candidate;
    const endpoint = endpointKey(candidate);
    const base = { endpoint, nodeName, local, state };
    if (!chosen.has(endpoint)) {
      const verdict = candidate.verdicts[list];
      const because = verdict === 'selected' ? 'the connection is not forwarded' : verdict;
      return { ...base, selected: false, because };
    }
    const isSelf = local && address === source.address;
    return {
      ...base,
      selected: true,
      ...share,
      ...(isSelf ? { hairpin: true as const } : {}),
      ...otherSource(address, prediction, { source, place, isSelf }),
    };
  });
}

/** Where an endpoint sees another source address than the policy says. */
function otherSource(
  address: string,
  prediction: Prediction,
  asked: { readonly source: Source; readonly place: Place; readonly isSelf: boolean },
): Pick<EndpointShare, 'keepsSource' | 'nodeSource'> {
  const { source, place, isSelf } = asked;
  if (prediction.action !== 'forward' || source.class === 'host') return {};
  const isOwn = isOwnAddress(address, place);
  if (place.madeBy?.(prediction, source.class) === 'process') {
    return !prediction.masquerade && (isOwn || isSelf) ? { nodeSource: true } : {};
  }
  return prediction.masquerade && isOwn ? { keepsSource: true } : {};
}

/** What each endpoint that was chosen gets. One that is alone gets all, however it is chosen. */
function shareOf(
  prediction: Prediction,
  source: Source,
  { unevenChoice }: Place,
): Pick<EndpointShare, 'oneOf' | 'chosenIf'> {
  if (prediction.action !== 'forward') return {};
  const oneOf = prediction.endpoints.length;
  const chosenIf = oneOf > 1 ? unevenChoice?.(prediction, source.class) : undefined;
  return chosenIf === undefined ? { oneOf } : { chosenIf };
}

/** The list that the connection is sent to, or would be. */
function listOf(prediction: Prediction, candidates: readonly Candidate[]): EndpointList {
  if (prediction.action === 'forward') return prediction.list;
  if (prediction.code === 'DROPPED_NO_LOCAL_ENDPOINTS') return 'local';
  const isUnused = candidates.every(({ verdicts }) => verdicts.cluster === 'list not used');
  return isUnused ? 'local' : 'cluster';
}
