import { parseCidr } from '../../addresses/cidr.ts';
import { FAMILIES, type Family } from '../../forwarding/model.ts';
import type { BaseHook } from '../../linux/nftables/objects.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import type { ChainOf } from '../shared/nft/structure.ts';
import { type Class, classChain, classSetOf, pickChain, stickyChain } from './classes.ts';
import { handedOver, handOver, handOverChains, notHandedOver } from './hand-over.ts';
import { DRAWS, isExact, sizeBelow, sizesUpTo } from './sizes.ts';
import { prefixLevels } from './source-ranges.ts';
import type { Rule, Statement, Way } from './statements.ts';
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

const when = (statement: Statement, ...then: Statement[]): Rule => ({
  statements: [statement, ...then],
});
const NEW: Statement = { do: 'match-new' };
const jump = (chain: string): Statement => ({ do: 'jump', chain });
const goto = (chain: string): Statement => ({ do: 'goto', chain });

/** The chains that are there whatever Services there are, in the order in which they are made. */
export function fixedChains(facts: TableFacts, family: TableFamily): readonly Chain[] {
  return [
    // Not `reject`, which is a keyword of nft: a chain of that name cannot be referenced.
    { name: 'refuse', rules: rejectRules() },
    { name: 'dispatch', rules: dispatchRules(facts, family) },
    { name: 'masquerading', rules: masqueradingRules(facts.masqueradeMark) },
    { name: 'source-check', rules: sourceRules(family) },
    { name: 'firewall-check', rules: [when({ do: 'match-limited' }, goto('source-check'))] },
    { name: 'service-check', rules: checkRules('service') },
    { name: 'nodeport-check', rules: nodePortCheckRules(facts, family) },
    { name: 'cluster-ip-check', rules: clusterIpCheckRules(facts, family) },
    ...(facts.handsOver ? handOverChains(facts.podDetection[FAMILY_OF_TABLE[family]]) : []),
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
  const serviceChecks = [when(NEW, jump('service-check')), when(NEW, jump('cluster-ip-check'))];
  const firewall = [when(NEW, jump('firewall-check'))];
  const dispatch = [when(jump('dispatch'))];
  const arrived = (rules: readonly Rule[]) => rulesFor(clientInterfaces, rules);
  // Packets from the machine's own sockets to one of its addresses come in by loopback.
  const delivered = (rules: readonly Rule[]) =>
    rulesFor(clientInterfaces && ['lo', ...clientInterfaces], rules);
  return [
    base('filter-prerouting', filter('prerouting', BEFORE_TRANSLATION), arrived(firewall)),
    base('filter-output-early', filter('output', BEFORE_TRANSLATION), firewall),
    base('filter-input', filter('input', FILTER), [
      ...(facts.handsOver ? [notHandedOver(FAMILY_OF_TABLE[family])] : []),
      ...delivered([when(NEW, jump('nodeport-check')), when(NEW, jump('service-check'))]),
    ]),
    base('filter-forward', filter('forward', FILTER), arrived(serviceChecks)),
    base('filter-output', filter('output', FILTER), serviceChecks),
    base('nat-prerouting', nat('prerouting', DESTINATION_TRANSLATION), arrived(dispatch)),
    base('nat-output', nat('output', DESTINATION_TRANSLATION), dispatch),
    base('nat-postrouting', nat('postrouting', SOURCE_TRANSLATION), [when(jump('masquerading'))]),
  ];
}

/** The same rules for the packets of each of these interfaces; undefined: for all packets. */
function rulesFor(
  interfaces: readonly string[] | undefined,
  rules: readonly Rule[],
): readonly Rule[] {
  if (interfaces === undefined) return rules;
  return interfaces.flatMap((name) =>
    rules.map((rule) => ({
      ...rule,
      statements: [{ do: 'match-interface', name } as const, ...rule.statements],
    })),
  );
}

function dispatchRules(facts: TableFacts, family: TableFamily): readonly Rule[] {
  return [
    when({ do: 'classify', where: 'service', classes: 'class-chains' }),
    ...exceptForwarder(facts, family),
    {
      statements: [
        ...servesNodePorts(facts, family),
        { do: 'classify', where: 'nodeport', classes: 'nodeport-class-chains' },
      ],
    },
  ];
}

function exceptForwarder(facts: TableFacts, family: TableFamily): readonly Rule[] {
  const of = FAMILY_OF_TABLE[family];
  return facts.handsOver && facts.nodePortAddresses[of] === 'all' ? [handedOver(of)] : [];
}

/** Node ports on loopback would need source addresses that cannot leave the machine. */
function servesNodePorts(facts: TableFacts, family: TableFamily): readonly Statement[] {
  if (facts.nodePortAddresses[FAMILY_OF_TABLE[family]] !== 'all') {
    return [{ do: 'match-address', set: 'nodeport-ips' }];
  }
  return [{ do: 'match-local', of: 'daddr' }, { do: 'match-not-loopback' }];
}

function masqueradingRules(mark: number): readonly Rule[] {
  return [
    when({ do: 'match-marked', mark }, { do: 'clear-mark', mark }, { do: 'masquerade' }),
    {
      statements: [
        { do: 'match-translated' },
        { do: 'match-hairpin', set: 'hairpin' },
        { do: 'masquerade' },
      ],
      comment: 'an endpoint that reaches itself',
    },
  ];
}

/** ICMP is limited in rate, and a TCP client may learn of it only with its next attempt. */
function rejectRules(): readonly Rule[] {
  return [when({ do: 'reset' }), when({ do: 'reject' })];
}

function sourceRules(family: TableFamily): readonly Rule[] {
  return [
    ...prefixLevels(family).map((prefixLength) =>
      when({ do: 'match-source', prefixLength }, { do: 'leave' }),
    ),
    { statements: [{ do: 'drop' }], comment: 'outside of its source ranges' },
  ];
}

function checkRules(where: 'service' | 'nodeport', first: readonly Statement[] = []): Rule[] {
  const set = (verdict: 'reject' | 'drop') => `${verdict}-${where}s` as const;
  return [
    {
      statements: [...first, { do: 'match-frontend', where, set: set('reject') }, goto('refuse')],
    },
    { statements: [...first, { do: 'match-frontend', where, set: set('drop') }, { do: 'drop' }] },
  ];
}

function nodePortCheckRules(facts: TableFacts, family: TableFamily): readonly Rule[] {
  const checks = checkRules('nodeport', servesNodePorts(facts, family));
  return [...exceptForwarder(facts, family), ...checks];
}

function clusterIpCheckRules(facts: TableFacts, family: TableFamily): readonly Rule[] {
  const version = family === 'ip' ? 4 : 6;
  const known = facts.knowsEveryService === false ? [] : facts.serviceRanges;
  const ranges = known.filter((cidr) => parseCidr(cidr)?.base.version === version);
  return [
    {
      statements: [{ do: 'match-address', set: 'service-ips' }, goto('refuse')],
      comment: 'a port that the Service does not have',
    },
    ...ranges.map(
      (cidr): Rule => ({
        statements: [{ do: 'match-range', cidr }, { do: 'drop' }],
        comment: 'an address that no Service has',
      }),
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

export function preparedChains(): readonly Chain[] {
  return sizesUpTo(LARGEST_PREPARED_SIZE).map((size) => pick(PREPARED_WAY, size));
}

/** The chains of a class: the one it leads to last, after those that it leads on to. */
export function classChains(of: Class, facts: TableFacts, family: TableFamily): readonly Chain[] {
  const { treatment, size, stickySeconds } = of;
  if (treatment === 'pick') return [pick(of, size)];
  if (treatment === 'choose') return [{ name: classChain(of), rules: chooseRules(of, size) }];
  if (treatment === 'short')
    return [stickySeconds > 0 ? sticky(of, stickySeconds) : pick(of, size)];
  const own = treatmentRules(of, facts, family);
  const first = facts.handsOver ? [handOver(of), ...own] : own;
  if (size === 0 && stickySeconds === 0) return [{ name: classChain(of), rules: first }];
  const next = stickySeconds > 0 ? sticky(of, stickySeconds) : pick(of, size);
  return [next, { name: classChain(of), rules: [...first, when(goto(next.name))] }];
}

function pick(way: Way, size: number): Chain {
  const { where, listOf } = way;
  const draw = (slotCount: number) => when({ do: 'translate', way: { where, listOf }, slotCount });
  return { name: pickChain(way, size), rules: drawCounts(size).map(draw) };
}

function chooseRules({ where, listOf }: Way, size: number): readonly Rule[] {
  return drawCounts(size).map((slotCount) =>
    when({ do: 'choose', way: { where, listOf }, slotCount }),
  );
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
function sticky({ where, listOf }: Way, seconds: number): Chain {
  const way: Way = { where, listOf };
  const classes = classSetOf({ ...way, treatment: 'pick', size: 1, stickySeconds: 0 });
  const classify = (treatment: 'pick' | 'choose'): Statement => ({
    do: 'classify',
    where,
    as: { treatment, listOf },
    classes,
  });
  return {
    name: stickyChain(way, seconds),
    rules: [
      when({ do: 'return', way, seconds }),
      when({ do: 'match-room', way, seconds }, classify('choose')),
      when({ do: 'return', way, seconds }),
      when(classify('pick')),
    ],
  };
}

function treatmentRules(of: Class, facts: TableFacts, family: TableFamily): readonly Rule[] {
  const mark: Statement = { do: 'set-mark', mark: facts.masqueradeMark };
  const by = facts.podDetection[FAMILY_OF_TABLE[family]];
  const fromHost: Statement = { do: 'match-local', of: 'saddr' };
  const short: Statement = {
    do: 'classify',
    where: of.where,
    as: { treatment: 'short', listOf: 'cluster' },
    classes: of.where === 'nodeport' ? 'nodeport-short-class-chains' : 'short-class-chains',
  };
  switch (of.treatment) {
    case 'cluster':
      return by ? [when({ do: 'match-pod', by, is: false }, mark)] : [];
    case 'masquerade':
      return [when(mark)];
    case 'local':
      return [
        ...(by ? [when({ do: 'match-pod', by, is: true }, short)] : []),
        when(fromHost, mark),
        when(fromHost, short),
      ];
    case 'local-host':
      return [when(fromHost, mark), when(fromHost, short)];
    default:
      return [];
  }
}
