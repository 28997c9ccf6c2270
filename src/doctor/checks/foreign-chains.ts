import {
  type FilterChain,
  type FilterRule,
  type FilterTable,
  rulesReachedFrom,
} from '../../linux/filter-table.ts';
import { openNetlink } from '../../linux/netlink/netlink-socket.ts';
import { readFilterTables, ruleText } from '../../linux/nftables/filter-tables.ts';
import { NETLINK_NETFILTER } from '../../linux/nftables/nftables-protocol.ts';
import { readLegacyTables } from '../../linux/xtables/legacy-tables.ts';
import { check } from '../doctor-check.ts';
import { type Finding, note, orOk, problem, unasked } from '../finding.ts';

const OURS = /^fairlead/;
/** Families whose packets pass our rules; packets between ports of a bridge pass that of bridges. */
const FAMILIES = new Set(['ip', 'ip6', 'inet', 'bridge']);
/** kube-proxy's tables in nftables mode have a check of their own. */
const KUBE_PROXY = 'kube-proxy';
const KUBE_PROXY_CHAIN = /^KUBE-/;

interface Facts {
  readonly tables: readonly FilterTable[];
  /** Tables of iptables-legacy that exist and could not be read. */
  readonly unread: readonly string[];
  /** Interfaces that lead to pods, and to other nodes or the outside. */
  readonly used: readonly string[];
}

export const FOREIGN_CHAINS = check<Facts>({
  name: 'foreign-chains',
  read: async (subject) => {
    const { podLinks, uplinks } = await subject.places();
    using netlink = openNetlink({ protocol: NETLINK_NETFILTER });
    const tables = await readFilterTables(netlink, ({ family, table, chains }) => {
      const isForeign = !OURS.test(table) && table !== KUBE_PROXY && table !== 'nat';
      return isForeign && FAMILIES.has(family) && chains.some(({ base }) => base !== undefined);
    });
    const legacy = await readLegacyTables();
    const used = [...podLinks, ...uplinks].map(({ name }) => name);
    const all = await Promise.all([...tables, ...legacy.tables].map(withTexts));
    return { tables: all, unread: legacy.unread, used };
  },
  judge: ({ tables, unread, used }) => {
    const found = tables.flatMap((table) =>
      table.chains.flatMap((chain) => judgeChain({ table, chain, used })),
    );
    const missing =
      unread.length === 0
        ? []
        : [
            unasked('LEGACY_TABLES_UNREAD', {
              what: `iptables-legacy has the tables ${unread.join(', ')}`,
              why: 'they may drop packets; reading them needs the program xtables-legacy-multi, which is missing here',
              next: 'run the command on the machine, or install the package iptables',
            }),
          ];
    return orOk([...found, ...missing], `${tables.length} tables of others, none drops`);
  },
});

function judgeChain(judged: {
  readonly table: FilterTable;
  readonly chain: FilterChain;
  readonly used: readonly string[];
}): readonly Finding[] {
  const { table, chain, used } = judged;
  if (chain.base === undefined) return [];
  const { hook, policy } = chain.base;
  const rules = foreignRules(table, chain);
  const name = `${table.family} ${table.name} ${chain.name}`;
  const by = listCommand(table, chain.name);
  if (policy === 'drop') {
    const accepts = rules.filter(({ verdict }) => verdict === 'accept');
    const fitting = accepts.filter((rule) => mayMatch(rule, used));
    const about = {
      what: `${name} (${table.by}, ${hook}) has the policy drop; ${fitting.length} of its rules can accept packets of Services`,
      why: `${SUBJECTS[hook] ?? 'packets'} that no rule of it accepts are dropped, also after Fairlead has translated them`,
      next: `${by} shows it; set its policy to accept, or accept the packets of pods there`,
    };
    return [
      fitting.length === 0
        ? problem('FOREIGN_POLICY_DROP', about)
        : note('FOREIGN_POLICY_DROP', about),
    ];
  }
  const drops = rules.filter(isDropping);
  const [first] = drops;
  if (first === undefined) return [];
  const more = drops.length - 1;
  const at = first.chain === chain.name ? hook : `${hook}, by way of ${chain.name}`;
  const owner = `${table.family} ${table.name} ${first.chain}`;
  const verb = first.verdict === 'reject' ? 'rejects' : 'drops';
  const what = `${first.id} of ${owner} (${table.by}, ${at}) ${verb} packets${textOf(first)}`;
  const others = `; ${more} more ${more === 1 ? 'rule drops or rejects' : 'rules drop or reject'}`;
  const shown = listCommand(table, first.chain);
  return [
    note('FOREIGN_DROP_RULES', {
      what: `${what}${more === 0 ? '' : others}`,
      why: `${SUBJECTS[hook] ?? 'packets'} that match are lost, and Fairlead cannot see it`,
      next: `${shown} shows it; check that no address of a Service, pod or node matches`,
    }),
  ];
}

function textOf({ text }: FilterRule): string {
  return text === undefined ? '' : `: ${text}`;
}

function isDropping({ verdict }: FilterRule): boolean {
  return verdict === 'drop' || verdict === 'reject';
}

/** Chains of kube-proxy have a check of their own, and in one mode they are ours. */
function foreignRules(table: FilterTable, chain: FilterChain): readonly FilterRule[] {
  return rulesReachedFrom(table, chain.name).filter((rule) => !KUBE_PROXY_CHAIN.test(rule.chain));
}

/** With the text of the rules that are named. */
async function withTexts(table: FilterTable): Promise<FilterTable> {
  if (table.by !== 'nf_tables') return table;
  const bases = table.chains.filter(({ base }) => base !== undefined);
  const named = new Set(bases.map((chain) => foreignRules(table, chain).find(isDropping)));
  const rules = table.rules.map(async (rule) => {
    const text = named.has(rule) ? await ruleText(table, rule) : undefined;
    return text === undefined ? rule : { ...rule, text };
  });
  return { ...table, rules: await Promise.all(rules) };
}

const SUBJECTS: Readonly<Record<string, string>> = {
  prerouting: 'packets that come in',
  input: 'packets for processes of this node',
  forward: 'packets from and to pods',
  output: 'packets of processes of this node',
  postrouting: 'packets that leave',
};

/** A rule for interfaces that lead to no pod, such as those of Docker, helps no Service. */
function mayMatch({ interfaces }: FilterRule, used: readonly string[]): boolean {
  if (used.length === 0) return true;
  return interfaces.every((pattern) => used.some((name) => isNamed(name, pattern)));
}

function isNamed(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function listCommand({ by, family, name }: FilterTable, chain: string): string {
  if (by === 'nf_tables') return `nft -a list chain ${family} ${name} ${chain}`;
  const program = family === 'ip' ? 'iptables-legacy' : 'ip6tables-legacy';
  return `${program} -t ${name} -S ${chain}`;
}
