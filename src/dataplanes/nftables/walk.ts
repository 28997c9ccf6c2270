import type { Forwarding, Frontend } from '../../forwarding/model.ts';
import { type Chain, TABLE_OF_FAMILY } from './chains.ts';
import { classChain, classOfId, groupChange } from './classes.ts';
import { hostNumberOf } from './element-text.ts';
import type { RowElement } from './elements.ts';
import { hostNumber } from './keys.ts';
import { partsOf, type RowParts } from './row.ts';
import type { RowNumbers } from './row-numbers.ts';
import { frontendMap, type SetName } from './sets.ts';
import { levelOf } from './source-ranges.ts';
import type { Rule, Statement } from './statements.ts';
import type { TableContent } from './table-content.ts';

/** A chain that a packet meets, with those of its rules that can say something about it. */
export interface ChainVisit {
  readonly chain: Chain;
  readonly rules: readonly Rule[];
  /** Index of the hook it is reached from. */
  readonly stage: number;
}

/** A frontend and what the kernel holds for it. */
export interface FrontendWalk {
  readonly frontend: Frontend;
  readonly parts: RowParts;
  readonly visits: readonly ChainVisit[];
}

/** The way of a packet from outside, hook by hook. The node's own packets meet the same in `output`. */
const FROM_OUTSIDE = [
  'filter-prerouting',
  'nat-prerouting',
  'filter-input',
  'filter-forward',
  'nat-postrouting',
] as const;

/** Where nobody else is served. */
const FROM_OWN_SOCKETS = [
  'filter-output-early',
  'nat-output',
  'filter-output',
  'filter-input',
  'nat-postrouting',
] as const;

/** `numbers` must have seen all rows before, in order. */
export function walkRow(
  row: Forwarding,
  content: TableContent,
  numbers: RowNumbers,
): readonly FrontendWalk[] {
  return row.frontends.map((frontend) => {
    const parts = partsOf({ ...row, frontends: [frontend] }, numbers);
    return { frontend, parts, visits: new Walk(row, frontend, { content, parts }).visits() };
  });
}

class Walk {
  readonly #frontend: Frontend;
  readonly #elements: ReadonlyMap<SetName, readonly RowElement[]>;
  readonly #chains: ReadonlyMap<string, Chain>;
  readonly #isForwarding: boolean;
  readonly #sourceLevels: ReadonlySet<number>;
  readonly #visits = new Map<string, ChainVisit>();
  #stage = 0;

  constructor(row: Forwarding, frontend: Frontend, of: { content: TableContent; parts: RowParts }) {
    if (TABLE_OF_FAMILY[row.id.family] !== of.content.family) {
      throw new RangeError('the table is of another family than the row');
    }
    this.#frontend = frontend;
    this.#elements = Map.groupBy(of.parts.elements, ({ set }) => set);
    this.#chains = new Map(of.content.chains.map((chain) => [chain.name, chain]));
    this.#isForwarding = of.parts.classes.length > 0;
    const ranges = of.parts.sources?.ranges ?? [];
    this.#sourceLevels = new Set(
      ranges.map(({ prefixLength }) => levelOf(prefixLength, of.content.family)),
    );
  }

  visits(): ChainVisit[] {
    const servesOthers = (this.#chains.get('nat-prerouting')?.rules.length ?? 0) > 0;
    for (const [stage, name] of (servesOthers ? FROM_OUTSIDE : FROM_OWN_SOCKETS).entries()) {
      this.#stage = stage;
      this.#visit(name);
    }
    return [...this.#visits.values()];
  }

  /** Says whether the chain has a rule for the packet; one that has none is left out. */
  #visit(name: string): boolean {
    const chain = this.#chains.get(name);
    if (!chain) return false;
    if (this.#visits.has(name)) return true;
    const rules: Rule[] = [];
    // Its place is before the chains that it leads to.
    this.#visits.set(name, { chain, rules, stage: this.#stage });
    for (const rule of chain.rules) if (this.#concerns(rule)) rules.push(rule);
    if (rules.length === 0) this.#visits.delete(name);
    return rules.length > 0;
  }

  #concerns(rule: Rule): boolean {
    return rule.statements.every((statement) => this.#applies(statement));
  }

  #applies(statement: Statement): boolean {
    const isNodePort = this.#frontend.kind === 'node-port';
    switch (statement.do) {
      case 'match-frontend':
        return this.#elements.has(statement.set);
      case 'match-limited':
        return this.#elements.has('source-lists');
      case 'match-source':
        return this.#sourceLevels.has(statement.prefixLength);
      case 'match-address':
        return isNodePort && statement.set === 'nodeport-ips';
      case 'match-local':
        return statement.of === 'saddr' || isNodePort;
      case 'match-range':
        return false;
      case 'match-marked':
      case 'match-translated':
        return this.#isForwarding;
      case 'jump':
      case 'goto':
        return this.#visit(statement.chain);
      case 'classify':
        return this.#visitClass(statement);
      default:
        return true;
    }
  }

  #visitClass({ where, as, classes }: Extract<Statement, { do: 'classify' }>): boolean {
    const [frontend] = this.#elements.get(frontendMap(where)) ?? [];
    if (frontend?.value === undefined) return false;
    const own = hostNumberOf(frontend.value);
    const change = as && groupChange(as.treatment, as.listOf);
    const group = change ? ((own & change.mask) ^ change.xor) >>> 0 : own;
    const key = hostNumber(group);
    const entry = this.#elements.get('groups')?.find((element) => element.key === key);
    const of = entry?.value && classOfId(hostNumberOf(entry.value), classes);
    return of ? this.#visit(classChain(of)) : false;
  }
}
