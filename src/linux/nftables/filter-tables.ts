import type { FilterChain, FilterRule, FilterTable } from '../filter-table.ts';
import { dump } from '../netlink/netlink-exchange.ts';
import type { Netlink } from '../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { eachAttribute, readAttributes, textOf } from '../netlink/reader.ts';
import { printedBy } from '../printed-by.ts';
import {
  CHAIN,
  DATA,
  EXPRESSION,
  FLAG,
  HOOK,
  LIST_ITEM,
  MESSAGE,
  RULE,
  VERDICT,
  VERDICT_CODE,
} from './nftables-protocol.ts';
import { signed32, unsigned32 } from './read-numbers.ts';

const HEADER_BYTES = 4;
const FAMILIES: Readonly<Record<number, string>> = {
  1: 'inet',
  2: 'ip',
  3: 'arp',
  5: 'netdev',
  7: 'bridge',
  10: 'ip6',
};
const HOOKS = ['prerouting', 'input', 'forward', 'output', 'postrouting'];
const POLICY_DROP = 0;
const EVERY_FAMILY = 0;
const MOST_TORN_DUMPS = 10;
const IMMEDIATE = { data: 2 } as const;
const META = { key: 2, inName: 6, outName: 7 } as const;
const COMPARISON = { data: 3 } as const;
const TARGET = { name: 1 } as const;
const LOOKUP = { target: 3 } as const;
const VERDICT_REGISTER = 0;

/** A chain with the table that it is in. */
export interface TableChain extends FilterChain {
  readonly family: string;
  readonly table: string;
}

/** Every chain of nf_tables in all families, those of iptables-nft too. */
export async function listAllChains(netlink: Netlink): Promise<readonly TableChain[]> {
  const question = { type: MESSAGE.getChain, family: EVERY_FAMILY, table: undefined };
  return await listAll(netlink, question, (body) => {
    const attributes = readAttributes(body.subarray(HEADER_BYTES));
    const hook = attributes.get(CHAIN.hook);
    const at = hook === undefined ? undefined : readAttributes(hook);
    const number = unsigned32(at?.get(HOOK.number));
    const isDrop = unsigned32(attributes.get(CHAIN.policy)) === POLICY_DROP;
    return {
      family: familyName(body),
      table: textOf(attributes.get(CHAIN.table)),
      name: textOf(attributes.get(CHAIN.name)),
      ...(number === undefined
        ? {}
        : { base: { hook: HOOKS[number] ?? 'ingress', policy: isDrop ? 'drop' : 'accept' } }),
    };
  });
}

/** The tables of these chains that are wanted, with their rules. */
export async function readFilterTables(
  netlink: Netlink,
  isWanted: (table: { family: string; table: string; chains: readonly TableChain[] }) => boolean,
): Promise<readonly FilterTable[]> {
  const byTable = Map.groupBy(
    await listAllChains(netlink),
    (chain) => `${chain.family} ${chain.table}`,
  );
  const tables: FilterTable[] = [];
  for (const chains of byTable.values()) {
    const [first] = chains;
    if (first === undefined) continue;
    const { family, table } = first;
    if (!isWanted({ family, table, chains })) continue;
    const rules = await listFilterRules(netlink, { family, table });
    tables.push({ by: 'nf_tables', family, name: table, chains, rules });
  }
  return tables;
}

/** A rule as `nft` prints it; undefined where that is not installed, or prints no such rule. */
export async function ruleText(
  { family, name }: Pick<FilterTable, 'family' | 'name'>,
  { chain, id }: FilterRule,
): Promise<string | undefined> {
  const listed = await printedBy('nft', ['-a', 'list', 'chain', family, name, chain]);
  const end = ` # ${id}`;
  const line = listed.split('\n').find((each) => each.endsWith(end));
  return line?.slice(0, -end.length).trim();
}

async function listFilterRules(
  netlink: Netlink,
  { family, table }: { readonly family: string; readonly table: string },
): Promise<readonly FilterRule[]> {
  const number = Object.keys(FAMILIES).map(Number);
  const question = {
    type: MESSAGE.getRule,
    family: number.find((each) => FAMILIES[each] === family) ?? EVERY_FAMILY,
    table,
  };
  return await listAll(netlink, question, (body) => {
    const attributes = readAttributes(body.subarray(HEADER_BYTES));
    const handle = attributes.get(RULE.handle)?.readBigUInt64BE(0) ?? 0n;
    const chain = textOf(attributes.get(RULE.chain));
    return { chain, id: `handle ${handle}`, ...readExpressions(attributes.get(RULE.expressions)) };
  });
}

type Read = Pick<FilterRule, 'verdict' | 'jumpsTo' | 'interfaces'>;

/** The verdict at its end, and the names of interfaces that it compares with. */
function readExpressions(list: Buffer | undefined): Read {
  let read: Read = { interfaces: [] };
  let isName = false;
  for (const { type, value } of eachAttribute(list ?? Buffer.alloc(0))) {
    if (type !== LIST_ITEM) continue;
    const expression = readAttributes(value);
    const name = textOf(expression.get(EXPRESSION.name));
    const data = readAttributes(expression.get(EXPRESSION.data) ?? Buffer.alloc(0));
    if (name === 'cmp' && isName) {
      read = { ...read, interfaces: [...read.interfaces, comparedText(data.get(COMPARISON.data))] };
    }
    if (name === 'immediate') read = { ...read, ...verdictOf(data.get(IMMEDIATE.data)) };
    if (name === 'lookup' && unsigned32(data.get(LOOKUP.target)) === VERDICT_REGISTER) {
      // Its elements are not read: one of them may accept.
      read = { ...read, verdict: 'accept' };
    }
    if (name === 'reject') read = { ...read, verdict: 'reject' };
    if (name === 'target') read = { ...read, ...targetOf(textOf(data.get(TARGET.name))) };
    const key = unsigned32(data.get(META.key));
    isName = name === 'meta' && (key === META.inName || key === META.outName);
  }
  return read;
}

/** A prefix has no zero at its end: `cni` of `iifname "cni*"`. */
function comparedText(data: Buffer | undefined): string {
  const value = data === undefined ? undefined : readAttributes(data).get(DATA.value);
  if (value === undefined) return '';
  return value.includes(0) ? textOf(value) : `${textOf(value)}*`;
}

function verdictOf(data: Buffer | undefined): Partial<Read> {
  const verdict = data === undefined ? undefined : readAttributes(data).get(DATA.verdict);
  if (verdict === undefined) return {};
  const attributes = readAttributes(verdict);
  const code = signed32(attributes.get(VERDICT.code));
  if (code === VERDICT_CODE.accept) return { verdict: 'accept' };
  if (code === VERDICT_CODE.drop) return { verdict: 'drop' };
  if (code === VERDICT_CODE.jump || code === VERDICT_CODE.goto) {
    return { jumpsTo: textOf(attributes.get(VERDICT.chain)) };
  }
  return {};
}

/** Targets of iptables that are modules. */
function targetOf(name: string): Partial<Read> {
  return name === 'REJECT' ? { verdict: 'reject' } : {};
}

function familyName(body: Buffer): string {
  return FAMILIES[body[0] ?? 0] ?? String(body[0]);
}

/** Asked again when what it lists was changed meanwhile. */
async function listAll<T>(
  netlink: Netlink,
  wanted: { readonly type: number; readonly family: number; readonly table: string | undefined },
  decode: (body: Buffer) => T,
): Promise<readonly T[]> {
  for (let sequence = 1; ; sequence++) {
    const writer = new NetlinkWriter();
    const flags = FLAG.request | FLAG.dump;
    const message = writer.beginMessage({ type: wanted.type, flags, sequence });
    writer.raw(Buffer.from([wanted.family, 0, 0, 0]));
    // The attribute for the table has this number for chains and rules.
    if (wanted.table !== undefined) writer.text(RULE.table, wanted.table);
    writer.endMessage(message);
    const found: T[] = [];
    const what = 'list the chains and rules of nf_tables';
    const { consistent } = await dump(netlink, { bytes: writer.bytes, what }, ({ body }) =>
      found.push(decode(body)),
    );
    if (consistent || sequence >= MOST_TORN_DUMPS) return found;
  }
}
