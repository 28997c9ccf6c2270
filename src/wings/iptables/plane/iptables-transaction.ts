import type { ServicePortKey } from '../../../forwarding/model.ts';
import { SERVICES } from './chain-names.ts';
import type { Dispatch, RowRules } from './iptables-row.ts';
import { TableChange } from './table-change.ts';

/**
 * The steps of a transaction. Each is atomic; the state between them is never worse than before or
 * after: reject rules are added before the jumps to endpoints are deleted, and deleted after they
 * are added.
 */
export const STEPS = ['reject', 'translate', 'accept'] as const;
export type Step = (typeof STEPS)[number];

interface Replaced {
  readonly before: RowRules;
  readonly after: RowRules;
}

/** The changes of some rows in one family. */
export class Transaction {
  readonly #changes: Readonly<Record<Step, TableChange>> = {
    reject: new TableChange('filter'),
    translate: new TableChange('nat'),
    accept: new TableChange('filter'),
  };
  readonly #rows = new Map<ServicePortKey, Replaced>();

  replace(key: ServicePortKey, { before, after }: Replaced): void {
    this.#rows.set(key, { before, after });
    for (const change of Object.values(this.#changes)) change.own(key);
    const { reject, translate, accept } = this.#changes;
    const old = countOf(before.dispatch);
    for (const each of after.dispatch) {
      if (takeOne(old, each)) continue;
      if (each.table === 'filter') reject.append(each.chain, each.rule);
      // Rules after its last rule are never reached.
      else if (each.chain === SERVICES) translate.insert(each.chain, each.rule);
      else translate.append(each.chain, each.rule);
    }
    for (const { dispatch, count } of old.values()) {
      const change = dispatch.table === 'nat' ? translate : accept;
      for (let i = 0; i < count; i++) change.deleteRule(dispatch.chain, dispatch.rule);
    }
    this.#replaceChains(translate, before, after);
  }

  change(step: Step): TableChange {
    return this.#changes[step];
  }

  /** What the kernel has of the rows when only these steps were done. */
  *presentAfter(done: ReadonlySet<Step>): Generator<[ServicePortKey, RowRules]> {
    for (const [key, { before, after }] of this.#rows) yield [key, mixture(before, after, done)];
  }

  #replaceChains(change: TableChange, before: RowRules, after: RowRules): void {
    for (const [name, rules] of after.chains) {
      if (!equalRules(before.chains.get(name), rules)) change.fill(name, rules);
    }
    for (const name of before.chains.keys()) {
      if (!after.chains.has(name)) change.removeChain(name);
    }
  }
}

function mixture(before: RowRules, after: RowRules, done: ReadonlySet<Step>): RowRules {
  const isTranslated = done.has('translate');
  const nat = (isTranslated ? after : before).dispatch.filter(({ table }) => table === 'nat');
  const filter = filterRules(before, after, done);
  return { chains: (isTranslated ? after : before).chains, dispatch: [...nat, ...filter] };
}

function filterRules(before: RowRules, after: RowRules, done: ReadonlySet<Step>): Dispatch[] {
  const isFilter = ({ table }: Dispatch): boolean => table === 'filter';
  if (done.has('accept')) return after.dispatch.filter(isFilter);
  const old = before.dispatch.filter(isFilter);
  if (!done.has('reject')) return old;
  const known = countOf(old);
  return [...old, ...after.dispatch.filter((each) => isFilter(each) && !takeOne(known, each))];
}

type Counts = Map<string, { dispatch: Dispatch; count: number }>;

export function dispatchId({ table, chain, rule }: Dispatch): string {
  return `${table} ${chain} ${rule}`;
}

function countOf(all: readonly Dispatch[]): Counts {
  const counts: Counts = new Map();
  for (const dispatch of all) {
    const id = dispatchId(dispatch);
    const known = counts.get(id);
    if (known) known.count += 1;
    else counts.set(id, { dispatch, count: 1 });
  }
  return counts;
}

function takeOne(counts: Counts, dispatch: Dispatch): boolean {
  const known = counts.get(dispatchId(dispatch));
  if (!known || known.count === 0) return false;
  known.count -= 1;
  return true;
}

export function equalRules(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): boolean {
  if (!a || !b || a.length !== b.length) return false;
  return a.every((rule, index) => rule === b[index]);
}
