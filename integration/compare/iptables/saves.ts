import { run } from '../../../lab/host/run.ts';

const FAMILIES = ['iptables', 'ip6tables'] as const;
const TABLES = ['mangle', 'filter', 'nat'] as const;
/** Chains in which the rules of different Services stand in any order. */
const SHARED = /^KUBE-(SERVICES|NODEPORTS|EXTERNAL-SERVICES|PROXY-FIREWALL)$/;
const LAST = 'NOTE: this must be the last rule in this chain';
/** The program that both backends are in. */
export type Program = 'xtables-nft-multi' | 'xtables-legacy-multi';

/** All rules and chains of a node, without counters, those of different Services sorted. */
export async function readSaves(namespacePath: string, program: Program): Promise<string[]> {
  const lines: string[] = [];
  for (const family of FAMILIES) {
    for (const table of TABLES) {
      const argv = ['nsenter', `--net=${namespacePath}`, program, `${family}-save`, '-t', table];
      const stdout = await run(argv as [string, ...string[]]);
      lines.push(...comparable(stdout).map((line) => `${family} ${table} ${line}`));
    }
  }
  return lines;
}

/** Exported for its test. */
export function comparable(text: string): string[] {
  const chains = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [verb = '', name = ''] = line.split(' ', 2);
    if (verb.startsWith(':')) chains.set(verb.slice(1), []);
    if (verb === '-A') chains.get(name)?.push(line);
  }
  return [...chains]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, rules]) => [`:${name}`, ...(SHARED.test(name) ? sorted(rules) : rules)]);
}

/** What must be last stays where it is. */
function sorted(rules: readonly string[]): string[] {
  const end = rules.findIndex((rule) => rule.includes(LAST));
  const at = end === -1 ? rules.length : end;
  return [...rules.slice(0, at).toSorted(), ...rules.slice(at)];
}

/** Lines that only one side has. */
export function differences(upstream: readonly string[], ours: readonly string[]): string[] {
  const [a, b] = [new Set(upstream), new Set(ours)];
  const found = [
    ...a
      .difference(b)
      .values()
      .map((line) => `- ${line}`),
    ...b
      .difference(a)
      .values()
      .map((line) => `+ ${line}`),
  ];
  if (found.length > 0) return found;
  const at = upstream.findIndex((line, index) => line !== ours[index]);
  if (at === -1 && upstream.length === ours.length) return [];
  return [
    `- order or count: ${upstream[at] ?? '(end)'}`,
    `+ order or count: ${ours[at] ?? '(end)'}`,
  ];
}
