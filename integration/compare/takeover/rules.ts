import { kernelHas } from '../../../lab/host/kernel-parts.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { run } from '../../../lab/host/run.ts';
import { wipeIpvs } from '../../../lab/network/wipe-ipvs.ts';
import { type Program, readSaves } from '../iptables/saves.ts';

const LEGACY_TABLES = ['/proc/net/ip_tables_names', '/proc/net/ip6_tables_names'];
const BUILT_IN = /:(PREROUTING|INPUT|FORWARD|OUTPUT|POSTROUTING)$/;
/** Tables of iptables on its nft backend: what is in them is read by iptables. */
const OF_IPTABLES = /^table ip6? (nat|filter|mangle)$/;

const READ_IPVS = `
  ipvsadm -S -n
  ip -o address show dev kube-ipvs0 2>/dev/null | sed 's/^[0-9]*: //; s/ *valid_lft.*//'
  ipset save | sed 's/ \\(hashsize\\|initval\\|bucketsize\\) [^ ]*//g'
  ip rule | sed -n 's/.*fwmark/rule fwmark/p'
  ip -6 rule | sed -n 's/.*fwmark/rule6 fwmark/p'
`;
const PATIENT = { deadlineMs: 120_000 };

/** All rules of a node, of whichever kind, as lines that can be compared. */
export async function readRules(namespacePath: string): Promise<string[]> {
  const saved = await readIptables(namespacePath, 'xtables-nft-multi');
  const isLegacyUsed = (await legacyTables(namespacePath)).length > 0;
  const legacy = isLegacyUsed ? await readIptables(namespacePath, 'xtables-legacy-multi') : [];
  const others = [...(await readNftables(namespacePath)), ...(await readIpvs(namespacePath))];
  return [...saved, ...legacy, ...others];
}

/** Virtual servers, addresses that stand for Services, ipsets, and rules of routing by a mark. */
async function readIpvs(namespacePath: string): Promise<string[]> {
  if (!kernelHas('ipvs')) return [];
  const text = await run(enterNamespace(namespacePath, ['sh', '-c', READ_IPVS]), PATIENT);
  return text.split('\n').filter(Boolean).sort();
}

async function readIptables(namespacePath: string, program: Program): Promise<string[]> {
  const lines = await readSaves(namespacePath, program);
  return lines.filter((line) => !BUILT_IN.test(line)).map((line) => `${program} ${line}`);
}

/** To ask the legacy program makes its tables. */
async function legacyTables(namespacePath: string): Promise<string[]> {
  const text = await run(enterNamespace(namespacePath, ['cat', ...LEGACY_TABLES]));
  return text.split('\n').filter(Boolean);
}

/** The elements of a set stand in any order. */
async function readNftables(namespacePath: string): Promise<string[]> {
  const inside = (...argv: [string, ...string[]]) =>
    run(enterNamespace(namespacePath, argv), PATIENT);
  const tables = (await inside('nft', 'list', 'tables')).split('\n');
  const lines: string[] = [];
  for (const table of tables.filter((name) => name !== '' && !OF_IPTABLES.test(name))) {
    const [, family = '', name = ''] = table.split(' ');
    const text = await inside('nft', '-s', 'list', 'table', family, name);
    const parts = text.split(/,?\n|, /).map((part) => part.replace(/^\s*(elements = \{ )?/, ''));
    lines.push(...parts.filter(Boolean).map((part) => `${family} ${name} ${part}`));
  }
  return lines.sort();
}

/** The numbers that the kernel gave the rules: one that is written anew has another. */
export async function readHandles(namespacePath: string): Promise<ReadonlySet<string>> {
  const text = await run(enterNamespace(namespacePath, ['nft', '-a', 'list', 'ruleset']), PATIENT);
  const handles = new Set<string>();
  let place = '';
  for (const line of text.split('\n')) {
    const [, opened] = /^(table \S+ \S+) \{/.exec(line) ?? [];
    if (opened !== undefined) place = opened;
    const [, handle] = /^\t\t.*# handle (\d+)$/.exec(line) ?? [];
    if (handle !== undefined) handles.add(`${place} ${handle}`);
  }
  return handles;
}

/** A node without rules, as if no proxy had ever run. */
export async function wipeRules(namespacePath: string): Promise<void> {
  await run(enterNamespace(namespacePath, ['nft', 'flush', 'ruleset']), PATIENT);
  for (const [index, program] of ['iptables', 'ip6tables'].entries()) {
    const path = LEGACY_TABLES[index] ?? '';
    const tables = (await run(enterNamespace(namespacePath, ['cat', path]))).split('\n');
    for (const table of tables.filter(Boolean)) {
      for (const verb of ['-F', '-X']) {
        const argv = ['xtables-legacy-multi', program, '-t', table, verb] as [string, ...string[]];
        await run(enterNamespace(namespacePath, argv));
      }
    }
  }
  await wipeIpvs(namespacePath);
}
