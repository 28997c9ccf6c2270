import { type InspectionDepth, PlaneError, type RowChange } from '../../../dataplanes/contract.ts';
import type { Differences } from '../../../dataplanes/differences.ts';
import { knownRow } from '../../../dataplanes/row-change.ts';
import {
  type Family,
  type Forwarding,
  type ServicePortKey,
  servicePortKey,
} from '../../../forwarding/model.ts';
import type { IptablesErrorCode } from '../../../linux/xtables/iptables-error.ts';
import { removeChains } from './chain-removal.ts';
import { cleanUp, hasOurs } from './clean-up.ts';
import type { Committer } from './committer.ts';
import { Comparison } from './iptables-comparison.ts';
import { type Dispatch, type RowRules, rulesOf } from './iptables-row.ts';
import type { SuspectChains } from './iptables-suspects.ts';
import { dispatchId, STEPS, type Step, Transaction } from './iptables-transaction.ts';
import { type KernelView, readKernel } from './kernel-view.ts';
import { reconfigure } from './reconfigure-iptables.ts';
import { repairFixedParts, tableChanges } from './repair-iptables.ts';
import type { RuleText } from './rule.ts';
import { RuleCounts } from './rule-counts.ts';
import type { Setting } from './setting.ts';
import { readSuspects } from './suspect-view.ts';
import type { TableChange } from './table-change.ts';

const UNCERTAIN: IptablesErrorCode = 'IPTABLES_UNCERTAIN';

/** The result of an inspection, and the changes to write. */
interface Compared {
  readonly right: ServicePortKey[];
  /** Rows that are not right, with what there is of them. */
  readonly present: ReadonlyMap<ServicePortKey, RowRules>;
  readonly changes: readonly TableChange[];
  /** Rule counts of the rows that are right. */
  readonly counts: RuleCounts;
  /** Chains that none of our rules jump to after the changes. */
  readonly staleChains: readonly string[];
}

/** The tables of one family: what is read from them and written to them. */
export class FamilyTables {
  readonly family: Family;
  readonly #program: string;
  readonly #committer: Committer;
  /** What the kernel has of `unknown` rows. */
  readonly #present = new Map<ServicePortKey, RowRules>();
  /** `unknown` rows of commits with unknown outcome: what they had before, and were to have. */
  readonly #uncertain = new Map<ServicePortKey, readonly RowRules[]>();
  /** A commit of fixed parts had an unknown outcome. */
  #isUncertain = false;
  #writtenCount = 0;
  /** Rule counts of the rows that are as they were applied. */
  readonly counts = new RuleCounts();

  constructor(parts: {
    readonly family: Family;
    readonly program: string;
    readonly committer: Committer;
  }) {
    this.family = parts.family;
    this.#program = parts.program;
    this.#committer = parts.committer;
  }

  get writtenCount(): number {
    return this.#writtenCount;
  }

  /** Whether it has noted anything of an `unknown` row. */
  has(key: ServicePortKey): boolean {
    return this.#present.has(key) || this.#uncertain.has(key);
  }

  read(): Promise<KernelView> {
    return readKernel(this.#program, this.family);
  }

  /** No row is `unknown`. */
  get isCertain(): boolean {
    return this.#present.size === 0 && this.#uncertain.size === 0 && !this.#isUncertain;
  }

  /** The same as `inspect` for what events reported; all else is assumed to be right. */
  async inspectSuspects(
    rows: readonly Forwarding[],
    inspected: { setting: Setting; differences: Differences },
    chains: SuspectChains,
  ): Promise<Iterable<ServicePortKey>> {
    const keys = new Set(rows.map(({ id }) => servicePortKey(id)));
    if (chains.size === 0) return keys;
    const { family } = this;
    const place = { program: this.#program, family, setting: inspected.setting };
    const { view, concerned } = await readSuspects(place, chains, rows);
    const compared = this.compare({ view, rows: concerned, ...inspected });
    await this.#repair(compared, 'reported');
    const isRight = new Set(compared.right);
    for (const row of concerned) {
      const key = servicePortKey(row.id);
      if (isRight.has(key)) continue;
      keys.delete(key);
      this.counts.subtract(rulesOf(row, inspected.setting));
    }
    return keys;
  }

  /** Repairs the fixed parts, deletes what belongs to no row; gives the rows that are complete. */
  async inspect(
    rows: readonly Forwarding[],
    setting: Setting,
    differences: Differences,
  ): Promise<ServicePortKey[]> {
    const view = await this.read();
    // At a first start there is nothing of any row, and comparing each costs as much as writing.
    const isFirst = !hasOurs(view);
    if (isFirst) differences.count += rows.length;
    const compared = this.compare({ view, rows: isFirst ? [] : rows, setting, differences });
    await this.#repair(compared, 'everything');
    this.counts.begin(compared.counts);
    return compared.right;
  }

  /** The result of an inspection, and the changes that it would write. */
  compare(compared: {
    readonly view: KernelView;
    readonly rows: readonly Forwarding[];
    readonly setting: Setting;
    readonly differences: Differences;
  }): Compared {
    const { view, rows, setting, differences } = compared;
    const { family } = this;
    const comparison = new Comparison({ family, view, differences });
    const right: ServicePortKey[] = [];
    const counts = new RuleCounts();
    for (const row of rows) {
      const rules = rulesOf(row, setting);
      if (!comparison.compare(row, rules)) continue;
      right.push(servicePortKey(row.id));
      counts.add(rules);
    }
    const changes = tableChanges();
    repairFixedParts(changes, { family, view, setting, differences });
    const leftovers = comparison.leftovers();
    for (const { table, chain, rule } of leftovers.dispatch) changes[table].deleteRule(chain, rule);
    const { mangle, filter, nat } = changes;
    for (const change of [filter, nat]) change.refillShrunk(view[change.table]);
    const { present } = comparison;
    const staleChains = leftovers.chains;
    return { right, present, counts, changes: [mangle, filter, nat], staleChains };
  }

  async apply(changes: readonly RowChange[], setting: Setting): Promise<void> {
    const isOpen = this.#isUncertain || changes.some(({ key }) => this.#uncertain.has(key));
    const view = isOpen ? await this.read() : undefined;
    const transaction = new Transaction();
    const given = new Map<ServicePortKey, readonly RowRules[]>();
    const replaced: { key: ServicePortKey; before: RowRules; after: RowRules }[] = [];
    for (const { key, before, after } of changes) {
      const rules = { before: rulesOf(knownRow(before), setting), after: rulesOf(after, setting) };
      replaced.push({ key, ...rules });
      // A note is newer than the row that is named: an inspection read it, which may then have failed.
      const noted = this.#present.get(key);
      const maybe = [rules.before, rules.after, noted, ...(this.#uncertain.get(key) ?? [])];
      const present = (view ? presentOf(view, maybe) : noted) ?? rules.before;
      transaction.replace(key, { before: present, after: rules.after });
      given.set(key, [present, rules.after]);
    }
    const done = new Set<Step>();
    try {
      const stepOf = new Map(STEPS.map((step) => [transaction.change(step), step]));
      await this.#write([...stepOf.keys()], (change) => {
        const step = stepOf.get(change);
        if (step) done.add(step);
      });
    } catch (error) {
      if (done.size > 0 || view) {
        for (const [key, rules] of transaction.presentAfter(done)) this.#present.set(key, rules);
      }
      if (leavesOpen(error)) for (const [key, rules] of given) this.#uncertain.set(key, rules);
      for (const { key, before } of replaced) if (this.has(key)) this.counts.subtract(before);
      throw error;
    }
    for (const { key } of changes) {
      this.#present.delete(key);
      this.#uncertain.delete(key);
    }
    for (const { before, after } of replaced) {
      this.counts.subtract(before);
      this.counts.add(after);
    }
  }

  /** The kernel has these as `after` although the other family failed: they are `unknown` now. */
  keep(changes: readonly RowChange[], setting: Setting): void {
    for (const { key, after } of changes) {
      const rules = rulesOf(after, setting);
      this.#present.set(key, rules);
      this.counts.subtract(rules);
    }
  }

  async configure(before: Setting, after: Setting): Promise<void> {
    const { family } = this;
    await this.#commit(reconfigure({ family, before, after, read: await this.read() }));
  }

  async remove(): Promise<void> {
    const { first, rowChains, last } = cleanUp(await this.read());
    await this.#commit(first);
    this.#forget();
    const [rejected] = await this.#removeChains(rowChains);
    if (rejected) throw rejected;
    await this.#commit([last]);
  }

  /** Chains that cannot be deleted are reported as differences already, and do not fail the inspection. */
  async #repair(
    { changes, present, staleChains }: Compared,
    depth: InspectionDepth,
  ): Promise<void> {
    await this.#commit(changes);
    if (depth === 'everything') this.#forget();
    for (const [key, rules] of present) this.#present.set(key, rules);
    await this.#removeChains(staleChains);
  }

  #removeChains(names: readonly string[]): Promise<PlaneError[]> {
    return removeChains(names, (changes) => this.#commit(changes));
  }

  /** All rows were read again, or are removed. */
  #forget(): void {
    this.#present.clear();
    this.#uncertain.clear();
    this.#isUncertain = false;
  }

  async #commit(changes: readonly TableChange[]): Promise<void> {
    try {
      await this.#write(changes);
    } catch (error) {
      if (leavesOpen(error)) this.#isUncertain = true;
      throw error;
    }
  }

  async #write(
    changes: readonly TableChange[],
    onDone?: (change: TableChange) => void,
  ): Promise<void> {
    await this.#committer.commit(changes, (change) => {
      this.#writtenCount += change.operationCount;
      onDone?.(change);
    });
    if (changes.some(({ isEmpty }) => !isEmpty)) this.counts.written(changes);
  }
}

/** The outcome of the commit is unknown. */
function leavesOpen(error: unknown): boolean {
  return error instanceof PlaneError && error.code === UNCERTAIN;
}

/** Which of the rules that were written for a row the kernel has. */
function presentOf(view: KernelView, given: readonly (RowRules | undefined)[]): RowRules {
  const chains = new Map<string, readonly RuleText[]>();
  const dispatch = new Map<string, Dispatch>();
  for (const rules of given) {
    for (const name of rules?.chains.keys() ?? []) {
      const found = view.nat.get(name);
      if (found) chains.set(name, found);
    }
    for (const each of rules?.dispatch ?? []) {
      if (view[each.table].get(each.chain)?.includes(each.rule)) {
        dispatch.set(dispatchId(each), each);
      }
    }
  }
  return { chains, dispatch: [...dispatch.values()] };
}
