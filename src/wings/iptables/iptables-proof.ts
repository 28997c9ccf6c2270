import { NftConnection } from '../../linux/nftables/connection.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import { IPTABLES_TABLES, type IptablesTable } from '../../linux/xtables/iptables-programs.ts';
import { openNetfilter } from '../../modes/netfilter.ts';
import type { ModeProof, TracedRule } from '../../modes/proof/mode-proof.ts';
import { renderedTables, USUAL_ABILITIES } from './plane/render.ts';
import { targetOf } from './plane/rule.ts';
import { ruleSentence } from './plane/sentences.ts';

const CHAIN_PREFIX = 'KUBE-';

const ENDS = new Set(['REJECT', 'DROP']);

/**
 * Rules have no fingerprints here: one is known by its target, by its place in a chain of which all
 * rules are known, or as the only one of its Service that rejects or drops.
 */
export const IPTABLES_PROOF: ModeProof = {
  usualTcpProbe: 'syn',
  isOurs: ({ chain }) => chain.startsWith(CHAIN_PREFIX),
  // Tables of the legacy backend are not traced.
  mayBeBlind: true,
  account: async ({ desired, family, met }) => {
    const { facts, rows } = desired;
    const tables = renderedTables(rows, { facts, abilities: USUAL_ABILITIES }, family);
    const places = await placesOf(met);
    return ({ table, chain, handle, target, verdict }) => {
      const rules = isTable(table) ? (tables[table].get(chain) ?? []) : [];
      const toTarget = rules.filter((rule) => {
        const to = targetOf(rule) ?? '';
        return verdict === 'drop' ? ENDS.has(to) : target !== undefined && to === target;
      });
      const handles = places.get(`${table} ${chain}`) ?? [];
      const isSame = handles.length === rules.length && handle !== undefined;
      const [only] = toTarget.length === 1 ? toTarget : [];
      const rule = isSame ? rules[handles.indexOf(handle)] : only;
      return rule === undefined ? undefined : ruleSentence(rule);
    };
  },
};

/** The handles of each chain that was met, in order. */
async function placesOf(met: readonly TracedRule[]): Promise<ReadonlyMap<string, bigint[]>> {
  using connection = new NftConnection(openNetfilter('requests'));
  const places = new Map<string, bigint[]>();
  for (const { family, table, chain } of met) {
    const key = `${table} ${chain}`;
    if (!isTableFamily(family) || !chain.startsWith(CHAIN_PREFIX) || places.has(key)) continue;
    const rules = await connection.rules({ family, name: table }, chain);
    places.set(
      key,
      rules.map(({ handle }) => handle),
    );
  }
  return places;
}

function isTable(name: string): name is IptablesTable {
  return IPTABLES_TABLES.some((table) => table === name);
}

function isTableFamily(family: string): family is TableFamily {
  return family === 'ip' || family === 'ip6';
}
