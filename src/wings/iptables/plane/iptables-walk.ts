import {
  type ChainVisit as ChainWalkVisit,
  walkChains,
} from '../../../dataplanes/shared/chain-walk.ts';
import type { Forwarding, Frontend } from '../../../forwarding/model.ts';
import type { IptablesTable } from '../../../linux/xtables/iptables-programs.ts';
import { FIREWALL, FORWARD, isRowChain, MARK_MASQUERADE } from './chain-names.ts';
import { type RenderedTables, renderedTables } from './render-iptables.ts';
import { type RuleText, targetOf } from './rule.ts';
import type { Setting } from './setting.ts';

/** A chain that a packet traverses, with those of its rules that may match it. */
export interface ChainVisit extends Omit<ChainWalkVisit<RuleText>, 'chain'> {
  readonly table: IptablesTable;
  readonly name: string;
}

export interface FrontendWalk {
  readonly frontend: Frontend;
  readonly visits: readonly ChainVisit[];
}

/** The hooks of a packet from outside, in order. The node's own packets begin in `OUTPUT`. */
const FROM_OUTSIDE = [
  ['nat', 'PREROUTING'],
  ['filter', 'INPUT'],
  ['filter', 'FORWARD'],
  ['nat', 'POSTROUTING'],
] as const;

/** The hooks where only the node's own sockets are served. */
const FROM_OWN_SOCKETS = [
  ['nat', 'OUTPUT'],
  ['filter', 'OUTPUT'],
  ['filter', 'INPUT'],
  ['nat', 'POSTROUTING'],
] as const;

export function walkRow(row: Forwarding, setting: Setting): readonly FrontendWalk[] {
  return row.frontends.map((frontend) => {
    // Rules of other Services, and of other frontends, do not match its packets.
    const { healthCheckPort: _, ...bare } = row;
    const only = { ...bare, frontends: [frontend] };
    const tables = renderedTables([only], setting, row.id.family);
    return { frontend, visits: visitsOf(tables) };
  });
}

/**
 * The way in words, hook by hook: each step one jump further, and where the packet goes to one of
 * several chains, all of them. The chain that only marks is left out: it comes back.
 */
export function wayOf(visits: readonly ChainVisit[]): string[] {
  const byStage = Map.groupBy(
    visits.filter(({ name }) => name !== MARK_MASQUERADE),
    ({ stage }) => stage,
  );
  const stages = [...byStage].sort(([a], [b]) => a - b);
  return stages.map(([, met]) => {
    const byDepth = [...Map.groupBy(met, ({ depth }) => depth)].sort(([a], [b]) => a - b);
    const steps = byDepth.map(([, chains]) => chains.map(({ name }) => name).join(' or '));
    return `${met[0]?.table} ${steps.join(' > ')}`;
  });
}

function visitsOf(tables: RenderedTables): ChainVisit[] {
  const dispatched = tables.nat.values().flatMap((rules) => rules.map(targetOf));
  const isForwarding = dispatched.some((target) => target !== undefined && isRowChain(target));
  const hooks = tables.nat.has('PREROUTING') ? FROM_OUTSIDE : FROM_OWN_SOCKETS;
  const visits = walkChains<RuleInTable>(hooks.map(chainId), {
    rulesOf: (id) => {
      const { table, name } = chainOf(id);
      if (!isMet({ table, name }, isForwarding)) return undefined;
      return (tables[table].get(name) ?? []).map((rule) => ({ table, rule }));
    },
    concerns: ({ table, rule }, visit) => {
      const target = targetOf(rule);
      return target === undefined || !tables[table].has(target) || visit(chainId([table, target]));
    },
  });
  return visits.map(({ chain, rules, stage, depth }) => {
    return { ...chainOf(chain), rules: rules.map(({ rule }) => rule), stage, depth };
  });
}

interface RuleInTable {
  readonly table: IptablesTable;
  readonly rule: RuleText;
}

/** Translated packets are forwarded as any other; the guard of loopback is for none of these. */
function isMet(chain: { table: IptablesTable; name: string }, isForwarding: boolean): boolean {
  const { table, name } = chain;
  if (name === FIREWALL) return false;
  const isForTranslated = name === FORWARD || (table === 'nat' && name.endsWith('POSTROUTING'));
  return isForwarding || !isForTranslated;
}

function chainId([table, name]: readonly [IptablesTable, string]): string {
  return `${table} ${name}`;
}

function chainOf(id: string): { readonly table: IptablesTable; readonly name: string } {
  const [table, name = ''] = id.split(' ');
  return { table: table as IptablesTable, name };
}
