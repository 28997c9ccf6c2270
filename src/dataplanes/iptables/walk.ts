import type { Forwarding, Frontend } from '../../forwarding/model.ts';
import type { IptablesTable } from '../../linux/iptables/programs.ts';
import { FIREWALL, FORWARD, isRowChain, MARK_MASQUERADE } from './names.ts';
import { type RenderedTables, renderedTables } from './render.ts';
import { type RuleText, targetOf } from './rule.ts';
import type { Setting } from './setting.ts';

/** A chain that a packet meets, with those of its rules that can say something about it. */
export interface ChainVisit {
  readonly table: IptablesTable;
  readonly name: string;
  readonly rules: readonly RuleText[];
  /** The how manieth hook it is reached from. */
  readonly stage: number;
  /** How many jumps it is away from the hook, by the longest way. */
  readonly depth: number;
}

export interface FrontendWalk {
  readonly frontend: Frontend;
  readonly visits: readonly ChainVisit[];
}

/** The way of a packet from outside, hook by hook. The node's own packets begin in `OUTPUT`. */
const FROM_OUTSIDE = [
  ['nat', 'PREROUTING'],
  ['filter', 'INPUT'],
  ['filter', 'FORWARD'],
  ['nat', 'POSTROUTING'],
] as const;

/** Where nobody else is served. */
const FROM_OWN_SOCKETS = [
  ['nat', 'OUTPUT'],
  ['filter', 'OUTPUT'],
  ['filter', 'INPUT'],
  ['nat', 'POSTROUTING'],
] as const;

export function walkRow(row: Forwarding, setting: Setting): readonly FrontendWalk[] {
  return row.frontends.map((frontend) => {
    // Rules of other Services, and of other frontends, have nothing to say about its packets.
    const { healthCheckPort: _, ...bare } = row;
    const only = { ...bare, frontends: [frontend] };
    const tables = renderedTables([only], setting, row.id.family);
    return { frontend, visits: new Walk(tables).visits() };
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

class Walk {
  readonly #tables: RenderedTables;
  readonly #isForwarding: boolean;
  readonly #visits = new Map<string, ChainVisit>();
  #stage = 0;

  constructor(tables: RenderedTables) {
    this.#tables = tables;
    const dispatched = tables.nat.values().flatMap((rules) => rules.map(targetOf));
    this.#isForwarding = dispatched.some((target) => target !== undefined && isRowChain(target));
  }

  visits(): ChainVisit[] {
    const servesOthers = this.#tables.nat.has('PREROUTING');
    const hooks = servesOthers ? FROM_OUTSIDE : FROM_OWN_SOCKETS;
    for (const [stage, [table, name]] of hooks.entries()) {
      this.#stage = stage;
      this.#visit(table, name, 0);
    }
    return [...this.#visits.values()];
  }

  /** Says whether the chain has a rule for the packet; one that has none is left out. */
  #visit(table: IptablesTable, name: string, depth: number): boolean {
    const all = this.#tables[table].get(name) ?? [];
    const id = `${table} ${name}`;
    const known = this.#visits.get(id);
    if (known && known.depth >= depth) return true;
    // What was translated is forwarded as any packet is; the guard of loopback is for none of these.
    if (name === FIREWALL || (name === FORWARD && !this.#isForwarding)) return false;
    const isMarked = table === 'nat' && name.endsWith('POSTROUTING');
    if (isMarked && !this.#isForwarding) return false;
    const rules: RuleText[] = [];
    // Its place is before the chains that it leads to.
    this.#visits.set(id, { table, name, rules, stage: known?.stage ?? this.#stage, depth });
    for (const rule of all) if (this.#concerns(table, rule, depth)) rules.push(rule);
    if (rules.length === 0) this.#visits.delete(id);
    return rules.length > 0;
  }

  #concerns(table: IptablesTable, rule: RuleText, depth: number): boolean {
    const target = targetOf(rule);
    if (target === undefined || !this.#tables[table].has(target)) return true;
    return this.#visit(table, target, depth + 1);
  }
}
