import { parseCidr } from '../../addresses/cidr.ts';
import { FAMILIES, type Family } from '../../forwarding/model.ts';
import type { BaseHook } from '../../linux/nftables/objects.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import type { NodeFacts } from '../contract.ts';
import {
  affinityUse,
  type Class,
  chainSeconds,
  classChain,
  endpointMap,
  pickChain,
  slotsOf,
} from './classes.ts';
import type { Rule, Statement } from './statements.ts';

export interface Chain {
  readonly name: string;
  readonly base?: BaseHook;
  readonly rules: readonly Rule[];
}

export const FAMILY_OF_TABLE: Readonly<Record<TableFamily, Family>> = { ip: 'IPv4', ip6: 'IPv6' };
export const TABLE_OF_FAMILY: Readonly<Record<Family, TableFamily>> = { IPv4: 'ip', IPv6: 'ip6' };
export const TABLE_FAMILIES: readonly TableFamily[] = FAMILIES.map((f) => TABLE_OF_FAMILY[f]);

/** Just before destinations are translated: what is dropped here is dropped as it was sent. */
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
export function fixedChains(facts: NodeFacts, family: TableFamily): readonly Chain[] {
  return [
    // Not `reject`, which is a word of nft's: nobody could name the chain to it.
    { name: 'refuse', rules: rejectRules() },
    { name: 'services', rules: serviceRules(facts, family) },
    { name: 'masquerading', rules: masqueradingRules(facts.masqueradeMark) },
    { name: 'firewall', rules: firewallRules() },
    { name: 'service-check', rules: checkRules('service') },
    { name: 'nodeport-check', rules: nodePortCheckRules(facts, family) },
    { name: 'cluster-ip-check', rules: clusterIpCheckRules(facts, family) },
    ...baseChains(),
  ];
}

function baseChains(): readonly Chain[] {
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
  const firewall = [when(NEW, jump('firewall'))];
  const services = [when(jump('services'))];
  return [
    base('filter-prerouting', filter('prerouting', BEFORE_TRANSLATION), firewall),
    base('filter-output-early', filter('output', BEFORE_TRANSLATION), firewall),
    base('filter-input', filter('input', FILTER), [
      when(NEW, jump('nodeport-check')),
      when(NEW, jump('service-check')),
    ]),
    base('filter-forward', filter('forward', FILTER), serviceChecks),
    base('filter-output', filter('output', FILTER), serviceChecks),
    base('nat-prerouting', nat('prerouting', DESTINATION_TRANSLATION), services),
    base('nat-output', nat('output', DESTINATION_TRANSLATION), services),
    base('nat-postrouting', nat('postrouting', SOURCE_TRANSLATION), [when(jump('masquerading'))]),
  ];
}

function serviceRules(facts: NodeFacts, family: TableFamily): readonly Rule[] {
  return [
    when({ do: 'classify', where: 'service', map: 'services', classes: 'classes' }),
    {
      statements: [
        ...servesNodePorts(facts, family),
        { do: 'classify', where: 'nodeport', map: 'nodeports', classes: 'nodeport-classes' },
      ],
    },
  ];
}

/** Node ports on loopback would need source addresses that cannot leave the machine. */
function servesNodePorts(facts: NodeFacts, family: TableFamily): readonly Statement[] {
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

function firewallRules(): readonly Rule[] {
  const notAllowed: Statement = {
    do: 'match-not-allowed',
    lists: 'firewall-lists',
    ranges: 'allowed-sources',
  };
  return [{ statements: [notAllowed, { do: 'drop' }], comment: 'outside of its source ranges' }];
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

function nodePortCheckRules(facts: NodeFacts, family: TableFamily): readonly Rule[] {
  return checkRules('nodeport', servesNodePorts(facts, family));
}

function clusterIpCheckRules(facts: NodeFacts, family: TableFamily): readonly Rule[] {
  const version = family === 'ip' ? 4 : 6;
  const ranges = facts.serviceRanges.filter((cidr) => parseCidr(cidr)?.base.version === version);
  return [
    {
      statements: [{ do: 'match-address', set: 'cluster-ips' }, goto('refuse')],
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
 * Chains that pick among so many endpoints are made before there are any: a rule that is bound to
 * a full map makes the kernel walk the map, which takes 18 to 63 ms with a quarter of a million.
 */
const PREPARED_COUNT = 32;

export function preparedChains(): readonly Chain[] {
  return Array.from({ length: PREPARED_COUNT }, (_, index) => {
    const of: Class = {
      where: 'service',
      treatment: 'cluster',
      count: index + 1,
      stickySeconds: 0,
    };
    return { name: pickChain(of), rules: pickRules(of) };
  });
}

/** The chains of a class: the one it leads to last, after those that it leads on to. */
export function classChains(of: Class, facts: NodeFacts, family: TableFamily): readonly Chain[] {
  if (of.treatment === 'short') return [{ name: classChain(of), rules: pickRules(of) }];
  const first = treatmentRules(of, facts, family);
  if (of.count === 0) return [{ name: classChain(of), rules: first }];
  const pick = { name: pickChain(of), rules: pickRules(of) };
  return [pick, { name: classChain(of), rules: [...first, when(goto(pick.name))] }];
}

/**
 * Between two packets' lookups a change may come: the class is still the old one and the slot is
 * gone. The second rule catches it, slot 0 is always there.
 */
function pickRules(of: Class): readonly Rule[] {
  const slots = slotsOf(of);
  const onlyFirst = { ...slots, count: 1 };
  if (of.stickySeconds === 0) {
    const map = endpointMap(of.where);
    const choices = of.count === 1 ? [slots] : [slots, onlyFirst];
    return choices.map((each) => when({ do: 'translate', where: of.where, map, slots: each }));
  }
  const use = affinityUse(of);
  const seconds = chainSeconds(of);
  const drawn = { count: of.count, offset: 0 };
  return [
    when({ do: 'return', use, seconds }),
    when({ do: 'choose', use, slots: drawn, seconds }),
    when({ do: 'choose-once', use, slots: { count: 1, offset: 0 } }),
  ];
}

function treatmentRules(of: Class, facts: NodeFacts, family: TableFamily): readonly Rule[] {
  const mark: Statement = { do: 'set-mark', mark: facts.masqueradeMark };
  const by = facts.podDetection[FAMILY_OF_TABLE[family]];
  const fromHost: Statement = { do: 'match-local', of: 'saddr' };
  const isNodePort = of.where === 'nodeport';
  const short: Statement = {
    do: 'classify',
    where: of.where,
    map: isNodePort ? 'short-circuit-nodeports' : 'short-circuit',
    classes: isNodePort ? 'nodeport-short-classes' : 'short-classes',
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
