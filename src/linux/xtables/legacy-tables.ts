import { readFileSync } from 'node:fs';
import type { FilterChain, FilterRule, FilterTable } from '../filter-table.ts';
import { systemCode } from '../sysctl-error.ts';
import { findProgram, type IptablesFamily } from './iptables-programs.ts';
import { type SaveCall, saveText } from './save.ts';

const TABLE_NAMES: Readonly<Record<IptablesFamily, string>> = {
  IPv4: '/proc/self/net/ip_tables_names',
  IPv6: '/proc/self/net/ip6_tables_names',
};
const READABLE: readonly SaveCall['table'][] = ['raw', 'mangle', 'filter', 'nat', 'security'];

export interface LegacyTables {
  readonly tables: readonly FilterTable[];
  /** Tables that exist and could not be read: xtables-legacy-multi is not installed. */
  readonly unread: readonly string[];
}

/**
 * Tables of iptables-legacy that exist. Others are not asked for: the program would create them,
 * which costs every packet from then on.
 */
export async function readLegacyTables(): Promise<LegacyTables> {
  const existing = (['IPv4', 'IPv6'] as const).flatMap((family) => {
    const names = tableNames(TABLE_NAMES[family]);
    return READABLE.filter((table) => names.includes(table)).map((table) => ({ family, table }));
  });
  const program = findProgram('legacy');
  const nameOf = (family: IptablesFamily): string => (family === 'IPv4' ? 'ip' : 'ip6');
  if (program === undefined) {
    return { tables: [], unread: existing.map((each) => `${nameOf(each.family)} ${each.table}`) };
  }
  const tables: FilterTable[] = [];
  for (const { family, table } of existing) {
    const text = await saveText({ program, family, table });
    const parsed = parseFilterTable(text);
    tables.push({ by: 'iptables-legacy', family: nameOf(family), name: table, ...parsed });
  }
  return { tables, unread: [] };
}

/** Read synchronously: the file shows the network namespace of the thread that opens it. */
function tableNames(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch (error) {
    // A kernel without the legacy tables has no such file; others hide it from all but root.
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** From the output of `iptables-save -t`. */
export function parseFilterTable(text: string): Pick<FilterTable, 'chains' | 'rules'> {
  const chains: FilterChain[] = [];
  const rules: FilterRule[] = [];
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, policy] = /^:(\S+) (\S+)/.exec(line) ?? [];
    if (name !== undefined) {
      const hook = name.toLowerCase();
      chains.push(
        policy === '-'
          ? { name }
          : { name, base: { hook, policy: policy === 'DROP' ? 'drop' : 'accept' } },
      );
    }
    const chain = /^-A (\S+)/.exec(line)?.[1];
    if (chain === undefined) continue;
    const count = (counts.get(chain) ?? 0) + 1;
    counts.set(chain, count);
    rules.push({ chain, id: `rule ${count}`, text: line, ...ruleOf(line) });
  }
  return { chains, rules };
}

const VERDICTS: Readonly<Record<string, FilterRule['verdict']>> = {
  ACCEPT: 'accept',
  DROP: 'drop',
  REJECT: 'reject',
};

function ruleOf(line: string): Pick<FilterRule, 'verdict' | 'jumpsTo' | 'interfaces'> {
  const target = / -[jg] (\S+)/.exec(line)?.[1] ?? '';
  const verdict = VERDICTS[target];
  const names = [...line.matchAll(/ -[io] (\S+)/g)].map(([, name = '']) => name);
  // `+` at the end is a wildcard.
  const interfaces = names.map((name) => name.replace(/\+$/, '*'));
  if (verdict !== undefined) return { verdict, interfaces };
  return target === '' ? { interfaces } : { jumpsTo: target, interfaces };
}
