import type { NodeFacts } from '../../../dataplanes/contract.ts';
import type { Family } from '../../../forwarding/model.ts';
import type { IptablesTable } from '../../../linux/xtables/iptables-programs.ts';
import {
  CANARY,
  EXTERNAL_SERVICES,
  FIREWALL,
  FORWARD,
  MARK_MASQUERADE,
  NODE_PORTS,
  POSTROUTING,
  PROXY_FIREWALL,
  SERVICES,
} from './chain-names.ts';
import { comment, type RuleText, ruleText, single } from './rule.ts';
import { INVALID_ACCOUNT, type Setting } from './setting.ts';

/** A chain with a content of its own, which does not depend on rows. */
export interface FixedChain {
  readonly table: IptablesTable;
  readonly name: string;
  readonly rules: readonly RuleText[];
}

/** A rule in a chain that is not ours. */
export interface Jump {
  readonly table: IptablesTable;
  readonly chain: string;
  readonly rule: RuleText;
  /** The kubelet wants it too: cleaning up leaves it. */
  readonly isShared?: true;
}

/** Chains that the rules of rows are put into. */
export const SHARED_CHAINS: readonly { table: 'nat' | 'filter'; name: string }[] = [
  { table: 'nat', name: SERVICES },
  { table: 'nat', name: NODE_PORTS },
  { table: 'filter', name: SERVICES },
  { table: 'filter', name: EXTERNAL_SERVICES },
  { table: 'filter', name: NODE_PORTS },
  { table: 'filter', name: PROXY_FIREWALL },
];

/** Chains that must exist, whatever is in them. */
export const PRESENT_CHAINS: readonly { table: IptablesTable; name: string }[] = [
  ...SHARED_CHAINS,
  { table: 'filter', name: FIREWALL },
  { table: 'mangle', name: CANARY },
  { table: 'filter', name: CANARY },
  { table: 'nat', name: CANARY },
];

export function fixedChains({ facts, abilities }: Setting): readonly FixedChain[] {
  const mark = `0x${facts.masqueradeMark.toString(16)}`;
  const nat = (name: string, ...rules: RuleText[]): FixedChain => ({ table: 'nat', name, rules });
  return [
    nat(MARK_MASQUERADE, ruleText({ jump: `MARK --set-xmark ${mark}/${mark}` })),
    nat(
      POSTROUTING,
      ruleText({ matches: [`-m mark ! --mark ${mark}/${mark}`], jump: 'RETURN' }),
      ruleText({ jump: `MARK --set-xmark ${mark}/0x0` }),
      ruleText({
        matches: [comment('kubernetes service traffic requiring SNAT')],
        jump: 'MASQUERADE --random-fully',
      }),
    ),
    { table: 'filter', name: FORWARD, rules: forwardRules(mark, abilities) },
  ];
}

function forwardRules(mark: string, abilities: Setting['abilities']): RuleText[] {
  const account = abilities.hasAccounts ? [`-m nfacct --nfacct-name ${INVALID_ACCOUNT}`] : [];
  const invalid = ['-m conntrack --ctstate INVALID', ...account];
  return [
    ...(abilities.dropsInvalid ? [ruleText({ matches: invalid, jump: 'DROP' })] : []),
    ruleText({
      matches: [comment('kubernetes forwarding rules'), `-m mark --mark ${mark}/${mark}`],
      jump: 'ACCEPT',
    }),
    ruleText({
      matches: [
        comment('kubernetes forwarding conntrack rule'),
        '-m conntrack --ctstate RELATED,ESTABLISHED',
      ],
      jump: 'ACCEPT',
    }),
  ];
}

/** Our rules in the chain that the kubelet shares. */
export function firewallRules({ facts }: Setting, family: Family): readonly RuleText[] {
  if (family !== 'IPv4' || !facts.nodePortsOnLocalhost) return [];
  return [
    ruleText({
      source: '! 127.0.0.0/8',
      destination: '127.0.0.0/8',
      matches: [
        comment('block incoming localnet connections'),
        '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT',
      ],
      jump: 'DROP',
    }),
  ];
}

const NODE_PORT_COMMENT = comment(
  'kubernetes service nodeports; NOTE: this must be the last rule in this chain',
);

/** The last rules of `KUBE-SERVICES` in nat: what no Service address matched may be a node port. */
export function nodePortJumps({ facts }: Setting, family: Family): readonly RuleText[] {
  const addresses = facts.nodePortAddresses[family];
  if (addresses !== 'all') {
    return addresses.map((address) =>
      ruleText({
        destination: single(address, family),
        matches: [NODE_PORT_COMMENT],
        jump: NODE_PORTS,
      }),
    );
  }
  const loopback = family === 'IPv4' ? '127.0.0.0/8' : '::1/128';
  const isServed = family === 'IPv4' && facts.nodePortsOnLocalhost === true;
  return [
    ruleText({
      ...(isServed ? {} : { destination: `! ${loopback}` }),
      matches: [NODE_PORT_COMMENT, '-m addrtype --dst-type LOCAL'],
      jump: NODE_PORTS,
    }),
  ];
}

const NEW = '-m conntrack --ctstate NEW';
const PORTALS = comment('kubernetes service portals');
const EXTERNAL_PORTALS = comment('kubernetes externally-visible service portals');
const LOAD_BALANCER_FIREWALL = comment('kubernetes load balancer firewall');

/** The ways into our chains. Each that is missing is put first, so the last of them is the first met. */
export const ALL_JUMPS: readonly Jump[] = [
  jump('filter', 'INPUT', { matches: [NEW, EXTERNAL_PORTALS], jump: EXTERNAL_SERVICES }),
  jump('filter', 'FORWARD', { matches: [NEW, EXTERNAL_PORTALS], jump: EXTERNAL_SERVICES }),
  jump('filter', 'INPUT', {
    matches: [comment('kubernetes health check service ports')],
    jump: NODE_PORTS,
  }),
  jump('filter', 'FORWARD', { matches: [NEW, PORTALS], jump: SERVICES }),
  jump('filter', 'OUTPUT', { matches: [NEW, PORTALS], jump: SERVICES }),
  jump('filter', 'FORWARD', {
    matches: [comment('kubernetes forwarding rules')],
    jump: FORWARD,
  }),
  jump('filter', 'INPUT', { matches: [NEW, LOAD_BALANCER_FIREWALL], jump: PROXY_FIREWALL }),
  jump('filter', 'OUTPUT', { matches: [NEW, LOAD_BALANCER_FIREWALL], jump: PROXY_FIREWALL }),
  jump('filter', 'FORWARD', { matches: [NEW, LOAD_BALANCER_FIREWALL], jump: PROXY_FIREWALL }),
  jump('nat', 'OUTPUT', { matches: [PORTALS], jump: SERVICES }),
  jump('nat', 'PREROUTING', { matches: [PORTALS], jump: SERVICES }),
  jump('nat', 'POSTROUTING', {
    matches: [comment('kubernetes postrouting rules')],
    jump: POSTROUTING,
  }),
  { ...jump('filter', 'INPUT', { jump: FIREWALL }), isShared: true },
  { ...jump('filter', 'OUTPUT', { jump: FIREWALL }), isShared: true },
];

/** Where packets of others come by; those of the machine's own sockets come in by loopback. */
const ARRIVALS: Readonly<Record<string, readonly string[]>> = {
  PREROUTING: [],
  INPUT: ['lo'],
  FORWARD: [],
};

/** The jumps from the built-in chains: for all packets, or for those of certain interfaces. */
export function jumpsFor({ clientInterfaces }: NodeFacts): readonly Jump[] {
  if (clientInterfaces === undefined) return ALL_JUMPS;
  return ALL_JUMPS.flatMap((each) => {
    const always = ARRIVALS[each.chain];
    if (each.isShared || always === undefined) return [each];
    return [...always, ...clientInterfaces].map((name) => ({
      ...each,
      rule: `-i ${name.replace(/\*$/, '+')} ${each.rule}`,
    }));
  });
}

/** Whether it is a way into our chains that the kubelet does not want too, for whomever it is meant. */
export function isOwnJump(jump: Omit<Jump, 'isShared'>): boolean {
  const rule = jump.rule.replace(/^-i \S+ /, '');
  return ALL_JUMPS.some(
    (each) =>
      !each.isShared &&
      each.table === jump.table &&
      each.chain === jump.chain &&
      each.rule === rule,
  );
}

function jump(
  table: IptablesTable,
  chain: string,
  rule: { matches?: readonly string[]; jump: string },
): Jump {
  return { table, chain, rule: ruleText(rule) };
}
