import type { Difference } from '../../../dataplanes/contract.ts';
import type { Differences } from '../../../dataplanes/differences.ts';
import {
  type Family,
  type Forwarding,
  type ServicePortKey,
  servicePortKey,
  servicePortName,
} from '../../../forwarding/model.ts';
import { isRowChain, NODE_PORTS, SERVICES } from './chain-names.ts';
import { SHARED_CHAINS } from './iptables-fixed-parts.ts';
import type { Dispatch, RowRules } from './iptables-row.ts';
import { dispatchId, equalRules } from './iptables-transaction.ts';
import type { KernelView } from './kernel-view.ts';
import { type RuleText, targetOf } from './rule.ts';

/** Rules and chains that belong to no row. */
export interface Leftovers {
  readonly dispatch: readonly Dispatch[];
  readonly chains: readonly string[];
}

interface PresentRow {
  readonly chains: Map<string, readonly RuleText[]>;
  readonly dispatch: Dispatch[];
}

/** Compares the rows of one family with the rules of the kernel. */
export class Comparison {
  readonly #family: Family;
  readonly #view: KernelView;
  readonly #differences: Differences;
  /** Rules of shared chains that no row has asked for yet. */
  readonly #unasked = new Map<string, Dispatch[]>();
  readonly #askedChains = new Set<string>();
  /** Rows that are not right, with what there is of them. */
  readonly present = new Map<ServicePortKey, PresentRow>();

  constructor(parts: {
    readonly family: Family;
    readonly view: KernelView;
    readonly differences: Differences;
  }) {
    this.#family = parts.family;
    this.#view = parts.view;
    this.#differences = parts.differences;
    for (const { table, name } of SHARED_CHAINS) {
      for (const rule of parts.view[table].get(name) ?? []) {
        if (!isNodePortJump(table, name, rule)) this.#offer({ table, chain: name, rule });
      }
    }
  }

  /** Returns whether the kernel has all of it. */
  compare(row: Forwarding, rules: RowRules): boolean {
    const present: PresentRow = { chains: new Map(), dispatch: [] };
    let isRight = true;
    const differ = (
      kind: Difference['kind'],
      object: string,
      rules?: Pick<Difference, 'wanted' | 'found'>,
    ): void => {
      isRight = false;
      this.#differ(kind, object, { service: servicePortName(row.id), ...rules });
    };
    for (const each of rules.dispatch) {
      if (this.#take(each)) present.dispatch.push(each);
      else differ('missing', `${each.table} ${each.chain} ${each.rule}`);
    }
    for (const [name, wanted] of rules.chains) {
      this.#askedChains.add(name);
      const found = this.#view.nat.get(name);
      if (found) present.chains.set(name, found);
      if (equalRules(found, wanted)) continue;
      if (found) differ('different', `nat ${name}`, { wanted, found });
      else differ('missing', `nat ${name}`);
    }
    if (!isRight) this.present.set(servicePortKey(row.id), present);
    return isRight;
  }

  /**
   * Leftovers of no row; call it when every row was compared. A jump to or from a chain of a row
   * that is about to be rewritten is removed with that row, in the same transaction.
   */
  leftovers(): Leftovers {
    const stale = new Set<string>();
    for (const name of this.#view.nat.keys()) {
      if (isRowChain(name) && !this.#askedChains.has(name)) stale.add(name);
    }
    const ownerOfChain = new Map<string, PresentRow>();
    for (const present of this.present.values()) this.#adopt(present, stale, ownerOfChain);
    const dispatch: Dispatch[] = [];
    for (const each of [...this.#unasked.values()].flat()) {
      this.#differ('foreign', `${each.table} ${each.chain} ${each.rule}`);
      const target = each.table === 'nat' ? targetOf(each.rule) : undefined;
      const owner = target === undefined ? undefined : ownerOfChain.get(target);
      if (owner) owner.dispatch.push(each);
      else dispatch.push(each);
    }
    for (const name of stale) this.#differ('foreign', `nat ${name}`);
    return { dispatch, chains: [...stale] };
  }

  /** Chains that only this row's own lead to go when it is written. */
  #adopt(present: PresentRow, stale: Set<string>, owners: Map<string, PresentRow>): void {
    const open = [...present.chains.keys()];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      owners.set(name, present);
      for (const rule of this.#view.nat.get(name) ?? []) {
        const target = targetOf(rule);
        if (target === undefined || !stale.delete(target)) continue;
        this.#differ('foreign', `nat ${target}`);
        present.chains.set(target, this.#view.nat.get(target) ?? []);
        open.push(target);
      }
    }
  }

  #offer(dispatch: Dispatch): void {
    const id = dispatchId(dispatch);
    const known = this.#unasked.get(id);
    if (known) known.push(dispatch);
    else this.#unasked.set(id, [dispatch]);
  }

  #take(dispatch: Dispatch): boolean {
    const id = dispatchId(dispatch);
    const known = this.#unasked.get(id);
    if (!known) return false;
    known.pop();
    if (known.length === 0) this.#unasked.delete(id);
    return true;
  }

  #differ(
    kind: Difference['kind'],
    object: string,
    more: Pick<Difference, 'service' | 'wanted' | 'found'> = {},
  ): void {
    this.#differences.add(() => ({ kind, object: `${this.#family} ${object}`, ...more }));
  }
}

/** The last rules of the chain are a fixed part. */
export function isNodePortJump(table: string, chain: string, rule: RuleText): boolean {
  return table === 'nat' && chain === SERVICES && targetOf(rule) === NODE_PORTS;
}
