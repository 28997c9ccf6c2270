import { parseCidr } from '../../addresses/cidr.ts';
import { FAMILIES, type Family } from '../../forwarding/model.ts';
import type { BaseHook } from '../../linux/nftables/nft-objects.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import {
  cameBy,
  clearMark,
  IS_FROM_THIS_NODE,
  IS_NEW,
  isHairpin,
  isPod,
  MASQUERADE,
  RESET,
  RETURN,
  reject,
  setMark,
} from '../shared/nft/common-clauses.ts';
import { commented, rule } from '../shared/nft/nft-rule.ts';
import type { ChainOf } from '../shared/nft/structure.ts';
import { type Class, classChain, classSetOf, pickChain, stickyChain } from './classes.ts';
import { choose, type Draw, hasRoom, translate, translateAsBefore } from './draw-clauses.ts';
import type { Way } from './groups.ts';
import { handedOver, handOver, handOverChains, notHandedOver } from './hand-over.ts';
import type { Where } from './nftables-sets.ts';
import {
  type Clause,
  classify,
  DROP,
  goto,
  IS_FOR_THIS_NODE,
  IS_TRANSLATED,
  isForAddressIn,
  isForFrontendIn,
  isForRange,
  isFromRange,
  isLimited,
  isMarked,
  isNotForLoopback,
  jump,
  type Rule,
} from './service-clauses.ts';
import { DRAWS, isExact, sizeBelow, sizesUpTo } from './sizes.ts';
import { prefixLevels } from './source-ranges.ts';
import type { TableFacts } from './table-facts.ts';

export type Chain = ChainOf<Rule>;

export const FAMILY_OF_TABLE: Readonly<Record<TableFamily, Family>> = { ip: 'IPv4', ip6: 'IPv6' };
export const TABLE_OF_FAMILY: Readonly<Record<Family, TableFamily>> = { IPv4: 'ip', IPv6: 'ip6' };
export const TABLE_FAMILIES: readonly TableFamily[] = FAMILIES.map((f) => TABLE_OF_FAMILY[f]);

/** Just before DNAT: packets dropped here still have their original destination. */
const BEFORE_TRANSLATION = -110;
const DESTINATION_TRANSLATION = -100;
const FILTER = 0;
const SOURCE_TRANSLATION = 100;

/** The chains that are there whatever Services there are, in the order in which they are made. */
export function fixedChains(facts: TableFacts, family: TableFamily): readonly Chain[] {
  return [
    // Not `reject`, which is a keyword of nft: a chain of that name cannot be referenced.
    { name: 'refuse', rules: rejectRules(family) },
    { name: 'dispatch', rules: dispatchRules(facts, family) },
    { name: 'masquerading', rules: masqueradingRules(facts.masqueradeMark, family) },
    { name: 'source-check', rules: sourceRules(family) },
    { name: 'firewall-check', rules: [rule(isLimited(family), goto('source-check'))] },
    { name: 'service-check', rules: checkRules('service', family) },
    { name: 'nodeport-check', rules: nodePortCheckRules(facts, family) },
    { name: 'cluster-ip-check', rules: clusterIpCheckRules(facts, family) },
    ...(facts.handsOver ? handOverChains(facts.podDetection[FAMILY_OF_TABLE[family]], family) : []),
    ...baseChains(facts, family),
  ];
}

/** Base chains that translate destinations: a packet that was translated before meets neither. */
export const TRANSLATING_CHAINS: readonly string[] = ['nat-prerouting', 'nat-output'];

function baseChains(facts: TableFacts, family: TableFamily): readonly Chain[] {
  const { clientInterfaces } = facts;
  const base = (name: string, hook: BaseHook, rules: readonly Rule[]): Chain => ({
    name,
    base: hook,
    rules,
  });
  const filter = (hook: BaseHook['hook'], priority: number): BaseHook => ({
    type: 'filter',
    hook,
    priority,
  });
  const nat = (hook: BaseHook['hook'], priority: number): BaseHook => ({
    type: 'nat',
    hook,
    priority,
  });
  const serviceChecks = [
    rule(IS_NEW, jump('service-check')),
    rule(IS_NEW, jump('cluster-ip-check')),
  ];
  const firewall = [rule(IS_NEW, jump('firewall-check'))];
  const dispatch = [rule(jump('dispatch'))];
  const arrived = (rules: readonly Rule[]) => rulesFor(clientInterfaces, rules);
  // Packets from the machine's own sockets to one of its addresses come in by loopback.
  const delivered = (rules: readonly Rule[]) =>
    rulesFor(clientInterfaces && ['lo', ...clientInterfaces], rules);
  return [
    base('filter-prerouting', filter('prerouting', BEFORE_TRANSLATION), arrived(firewall)),
    base('filter-output-early', filter('output', BEFORE_TRANSLATION), firewall),
    base('filter-input', filter('input', FILTER), [
      ...(facts.handsOver ? [notHandedOver(family)] : []),
      ...delivered([rule(IS_NEW, jump('nodeport-check')), rule(IS_NEW, jump('service-check'))]),
    ]),
    base('filter-forward', filter('forward', FILTER), arrived(serviceChecks)),
    base('filter-output', filter('output', FILTER), serviceChecks),
    base('nat-prerouting', nat('prerouting', DESTINATION_TRANSLATION), arrived(dispatch)),
    base('nat-output', nat('output', DESTINATION_TRANSLATION), dispatch),
    base('nat-postrouting', nat('postrouting', SOURCE_TRANSLATION), [rule(jump('masquerading'))]),
  ];
}

/** The same rules for the packets of each of these interfaces; undefined: for all packets. */
function rulesFor(
  interfaces: readonly string[] | undefined,
  rules: readonly Rule[],
): readonly Rule[] {
  if (interfaces === undefined) return rules;
  return interfaces.flatMap((name) =>
    rules.map((each) => ({ ...each, clauses: [cameBy(name), ...each.clauses] })),
  );
}

function dispatchRules(facts: TableFacts, family: TableFamily): readonly Rule[] {
  return [
    rule(classify({ where: 'service', classes: 'class-chains' }, family)),
    ...exceptForwarder(facts, family),
    rule(
      ...servesNodePorts(facts, family),
      classify({ where: 'nodeport', classes: 'nodeport-class-chains' }, family),
    ),
  ];
}

function exceptForwarder(facts: TableFacts, family: TableFamily): readonly Rule[] {
  const isEverywhere = facts.nodePortAddresses[FAMILY_OF_TABLE[family]] === 'all';
  return facts.handsOver && isEverywhere ? [handedOver(family)] : [];
}

/** Node ports on loopback would need source addresses that cannot leave the machine. */
function servesNodePorts(facts: TableFacts, family: TableFamily): readonly Clause[] {
  if (facts.nodePortAddresses[FAMILY_OF_TABLE[family]] !== 'all') {
    return [isForAddressIn('nodeport-ips', family)];
  }
  return [IS_FOR_THIS_NODE, isNotForLoopback(family)];
}

function masqueradingRules(mark: number, family: TableFamily): readonly Rule[] {
  return [
    rule(isMarked(mark), clearMark(mark), MASQUERADE),
    commented('an endpoint that reaches itself', IS_TRANSLATED, isHairpin(family), MASQUERADE),
  ];
}

/** ICMP is limited in rate, and a TCP client may learn of it only with its next attempt. */
function rejectRules(family: TableFamily): readonly Rule[] {
  return [rule(RESET), rule(reject(family))];
}

function sourceRules(family: TableFamily): readonly Rule[] {
  return [
    ...prefixLevels(family).map((prefixLength) => rule(isFromRange(prefixLength, family), RETURN)),
    // Counts for each frontend what the last rule would drop, too.
    rule(isForFrontendIn('limited-services', 'service', family), DROP),
    commented('outside of its source ranges', DROP),
  ];
}

function checkRules(
  ...[where, family, first = []]: [Where, TableFamily, (readonly Clause[])?]
): readonly Rule[] {
  return [
    rule(...first, isForFrontendIn(`reject-${where}s`, where, family), goto('refuse')),
    rule(...first, isForFrontendIn(`drop-${where}s`, where, family), DROP),
  ];
}

function nodePortCheckRules(facts: TableFacts, family: TableFamily): readonly Rule[] {
  const checks = checkRules('nodeport', family, servesNodePorts(facts, family));
  return [...exceptForwarder(facts, family), ...checks];
}

function clusterIpCheckRules(facts: TableFacts, family: TableFamily): readonly Rule[] {
  const version = family === 'ip' ? 4 : 6;
  const known = facts.knowsEveryService === false ? [] : facts.serviceRanges;
  const ranges = known.filter((cidr) => parseCidr(cidr)?.base.version === version);
  return [
    commented(
      'a port that the Service does not have',
      isForAddressIn('service-ips', family),
      goto('refuse'),
    ),
    ...ranges.map((cidr) =>
      commented('an address that no Service has', isForRange(cidr, family), DROP),
    ),
  ];
}

/**
 * Chains that draw from so many slots are made before there are any: a rule that is bound to a full
 * map makes the kernel walk the map, which takes 18 to 63 ms with a quarter of a million. But not all
 * of them: with every element of a map the kernel goes through all rules that are bound to it.
 */
const LARGEST_PREPARED_SIZE = 64;
const PREPARED_WAY: Way = { where: 'service', listOf: 'own' };

export function preparedChains(family: TableFamily): readonly Chain[] {
  return sizesUpTo(LARGEST_PREPARED_SIZE).map((size) => pick(PREPARED_WAY, size, family));
}

/** The chains of a class: the one it leads to last, after those that it leads on to. */
export function classChains(
  rowClass: Class,
  facts: TableFacts,
  family: TableFamily,
): readonly Chain[] {
  const { treatment, size, stickySeconds } = rowClass;
  if (treatment === 'pick') return [pick(rowClass, size, family)];
  if (treatment === 'choose') {
    const rules = draws(rowClass, size).map((draw) => rule(choose(draw, family)));
    return [{ name: classChain(rowClass), rules }];
  }
  const drawing = () =>
    stickySeconds > 0 ? sticky(rowClass, stickySeconds, family) : pick(rowClass, size, family);
  if (treatment === 'short') return [drawing()];
  const own = treatmentRules(rowClass, facts, family);
  const first = facts.handsOver ? [handOver(rowClass), ...own] : own;
  if (size === 0 && stickySeconds === 0) return [{ name: classChain(rowClass), rules: first }];
  const next = drawing();
  return [next, { name: classChain(rowClass), rules: [...first, rule(goto(next.name))] }];
}

function pick(way: Way, size: number, family: TableFamily): Chain {
  const rules = draws(way, size).map((draw) => rule(translate(draw, family)));
  return { name: pickChain(way, size), rules };
}

function draws(way: Way, size: number): readonly Draw[] {
  return drawCounts(size).map((slotCount, index) => ({ way, slotCount, isRepeated: index > 0 }));
}

/**
 * The sizes of the successive draws. A size has empty slots at its end, unless it is exact: a draw
 * of an empty slot is repeated, at last from slots that every list of the size has. Then slot 0: a
 * change may come between two lookups of a packet, when the class is the old one and its slots are
 * gone.
 */
function drawCounts(size: number): readonly number[] {
  if (size === 1) return [1];
  if (isExact(size)) return [size, 1];
  return [...Array.from({ length: DRAWS }, () => size), sizeBelow(size), 1];
}

/** For an unknown client an endpoint is chosen and stored, or used without storing it. */
function sticky(way: Way, seconds: number, family: TableFamily): Chain {
  const { where, listOf } = way;
  const classes = classSetOf({ where, listOf, treatment: 'pick', size: 1, stickySeconds: 0 });
  const next = (treatment: 'pick' | 'choose') =>
    classify({ where, as: { treatment, listOf }, classes }, family);
  const asBefore = rule(translateAsBefore(way, seconds, family));
  return {
    name: stickyChain(way, seconds),
    rules: [
      asBefore,
      rule(hasRoom(way, seconds, family), next('choose')),
      asBefore,
      rule(next('pick')),
    ],
  };
}

function treatmentRules(rowClass: Class, facts: TableFacts, family: TableFamily): readonly Rule[] {
  const mark = setMark(facts.masqueradeMark);
  const by = facts.podDetection[FAMILY_OF_TABLE[family]];
  const { where } = rowClass;
  const as = { treatment: 'short', listOf: 'cluster' } as const;
  const classes = where === 'nodeport' ? 'nodeport-short-class-chains' : 'short-class-chains';
  const short = classify({ where, as, classes }, family);
  const hostRules = [rule(IS_FROM_THIS_NODE, mark), rule(IS_FROM_THIS_NODE, short)];
  switch (rowClass.treatment) {
    case 'cluster':
      return by ? [rule(isPod(by, false, family), mark)] : [];
    case 'masquerade':
      return [rule(mark)];
    case 'local':
      return [...(by ? [rule(isPod(by, true, family), short)] : []), ...hostRules];
    case 'local-host':
      return hostRules;
    default:
      return [];
  }
}
