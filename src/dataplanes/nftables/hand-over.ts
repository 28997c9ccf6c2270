import type { PodDetection } from '../../forwarding/answer/place.ts';
import type { SourceClass } from '../../forwarding/model.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import { FORWARDER_ADDRESSES } from '../shared/forwarder-addresses.ts';
import { IS_FROM_THIS_NODE, IS_NEW, isPod, RETURN } from '../shared/nft/common-clauses.ts';
import { commented, rule } from '../shared/nft/nft-rule.ts';
import type { Class } from './classes.ts';
import {
  type Clause,
  COUNT_NOT_HANDED_OVER,
  DROP,
  handOverFrom,
  IS_FOR_THIS_NODE,
  IS_TRANSPARENT,
  IS_UNTRANSLATED,
  isForFrontendIn,
  isForRange,
  jump,
  type Rule,
} from './service-clauses.ts';

/**
 * Sends connections to the forwarder, a process of this machine, instead of an endpoint: to one port
 * for each source class, because a socket cannot tell by which interface its client came in. The
 * ports are elements with a timeout. Without them every rule here fails, and the packet goes on to
 * the rules that translate.
 */

/** Rows for which the forwarder has no room are translated. */
function keptRules(family: TableFamily): readonly Rule[] {
  const kept = (...clauses: readonly Clause[]) =>
    commented('no room in the forwarder', ...clauses, COUNT_NOT_HANDED_OVER, RETURN);
  return [
    kept(isForFrontendIn('kept-services', 'service', family)),
    kept(IS_FOR_THIS_NODE, isForFrontendIn('kept-nodeports', 'nodeport', family)),
  ];
}

/** Which sources a class forwards: those of other machines only where their list has endpoints. */
type Sources = 'all' | 'inside';

const CHAIN: Readonly<Record<Sources, string>> = { all: 'hand-over', inside: 'hand-over/inside' };

export function handOverChains(
  by: PodDetection | undefined,
  family: TableFamily,
): readonly { readonly name: string; readonly rules: readonly Rule[] }[] {
  return (['all', 'inside'] as const).map((sources) => ({
    name: CHAIN[sources],
    rules: handOverRules(sources, by, family),
  }));
}

/** The first rule of a class that packets reach by their destination. */
export function handOver({ treatment, size, stickySeconds }: Class): Rule {
  const isLocal = treatment === 'local' || treatment === 'local-host';
  const hasEndpoints = size > 0 || stickySeconds > 0;
  const chain = CHAIN[isLocal && !hasEndpoints ? 'inside' : 'all'];
  return rule(jump(chain));
}

/** Its listeners are for connections that were handed over: neighbours could route to its address. */
export function notHandedOver(family: TableFamily): Rule {
  const isForIt = isForwarder(family);
  return commented('not handed over to the forwarder', IS_NEW, isForIt, IS_UNTRANSLATED, DROP);
}

/** Where node ports are served on all addresses of this machine, they are not on that of the forwarder. */
export function handedOver(family: TableFamily): Rule {
  return commented('the forwarder', isForwarder(family), RETURN);
}

function isForwarder(family: TableFamily): Clause {
  const { IPv4, IPv6 } = FORWARDER_ADDRESSES;
  return isForRange(family === 'ip' ? `${IPv4}/32` : `${IPv6}/128`, family);
}

/**
 * Pods before the node before others, as in the chains that translate.
 *
 * A range may have the pods of other nodes too. Where the policy is Local and no endpoint is on this
 * node, kube-proxy never serves those: it keeps the pod's address, so that the answer does not come
 * back this way. The forwarder would serve them from its own address, and is not asked.
 */
function handOverRules(
  ...[sources, by, family]: [Sources, PodDetection | undefined, TableFamily]
): readonly Rule[] {
  const takesPods = by !== undefined && (sources === 'all' || by.by !== 'cidr');
  const cases: readonly (readonly [SourceClass, readonly Clause[]])[] = [
    ...(takesPods ? [['pod', [isPod(by, true, family)]] as const] : []),
    ['host', [IS_FROM_THIS_NODE]],
    ...(sources === 'all' ? [['outside', []] as const] : []),
  ];
  const counted = sources === 'all' ? [[]] : cases.map(([, match]) => match);
  return [
    commented('of the forwarder itself', IS_TRANSPARENT, RETURN),
    ...keptRules(family),
    ...cases.map(([from, match]) => rule(...match, handOverFrom(from, family))),
    ...counted.map((match) => rule(...match, COUNT_NOT_HANDED_OVER, RETURN)),
  ];
}
