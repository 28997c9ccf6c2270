import {
  type Family,
  type Forwarding,
  type ServicePortKey,
  servicePortKey,
} from '../../forwarding/model.ts';
import type { Change } from '../../forwarding/table.ts';
import type { IptablesErrorCode } from '../../linux/iptables/errors.ts';
import { PlaneError } from '../contract.ts';
import type { Differences } from '../differences.ts';
import { removeChains } from './chain-removal.ts';
import { cleanUp, hasOurs } from './clean-up.ts';
import type { Committer } from './committers.ts';
import { Comparison } from './comparison.ts';
import { type KernelView, readKernel } from './kernel-view.ts';
import { mendFixedParts, tableChanges } from './mend.ts';
import { presentOf } from './present.ts';
import { reconfigure } from './reconfigure.ts';
import { type RowRules, rulesOf } from './row.ts';
import type { Setting } from './setting.ts';
import { readSuspects } from './suspect-view.ts';
import type { SuspectChains } from './suspects.ts';
import type { TableChange } from './table-change.ts';
import { STEPS, type Step, Transaction } from './transaction.ts';

const UNCERTAIN: IptablesErrorCode = 'IPTABLES_UNCERTAIN';

/** What an inspection finds, and what it is to write. */
interface Compared {
  readonly right: ServicePortKey[];
  /** Rows that are not right: what there is of them. */
  readonly present: ReadonlyMap<ServicePortKey, RowRules>;
  readonly changes: readonly TableChange[];
  /** To which nothing of ours leads when the changes are written. */
  readonly staleChains: readonly string[];
}

/** The tables of one family: what is read from them and written to them. */
export class FamilyTables {
  readonly family: Family;
  readonly #program: string;
  readonly #committer: Committer;
  /** What the kernel has of rows that are not there as they were applied. */
  readonly #present = new Map<ServicePortKey, RowRules>();
  /** A commit went wrong in a way that leaves open what came of it. */
  #isUncertain = false;
  #writtenCount = 0;

  constructor(of: {
    readonly family: Family;
    readonly program: string;
    readonly committer: Committer;
  }) {
    this.family = of.family;
    this.#program = of.program;
    this.#committer = of.committer;
  }

  get writtenCount(): number {
    return this.#writtenCount;
  }

  has(key: ServicePortKey): boolean {
    return this.#present.has(key);
  }

  read(): Promise<KernelView> {
    return readKernel(this.#program, this.family);
  }

  /** Nothing is there but what was applied. */
  get isCertain(): boolean {
    return this.#present.size === 0 && !this.#isUncertain;
  }

  /** The same as `inspect` for what somebody touched; all else is believed to be right. */
  async inspectSuspects(
    rows: readonly Forwarding[],
    of: { setting: Setting; differences: Differences },
    chains: SuspectChains,
  ): Promise<Iterable<ServicePortKey>> {
    const keys = new Set(rows.map(({ id }) => servicePortKey(id)));
    if (chains.size === 0) return keys;
    const { family } = this;
    const place = { program: this.#program, family, setting: of.setting };
    const { view, concerned } = await readSuspects(place, chains, rows);
    const compared = this.compare({ view, rows: concerned, ...of });
    await this.#mend(compared);
    const isRight = new Set(compared.right);
    for (const { id } of concerned) {
      const key = servicePortKey(id);
      if (!isRight.has(key)) keys.delete(key);
    }
    return keys;
  }

  /** Mends the fixed parts, removes what belongs to no row; gives the rows that are there. */
  async inspect(
    rows: readonly Forwarding[],
    setting: Setting,
    differences: Differences,
  ): Promise<ServicePortKey[]> {
    const view = await this.read();
    this.#present.clear();
    // At a first start nothing of any row is there, and to look for each costs as much as writing.
    const isFirst = !hasOurs(view);
    if (isFirst) differences.count += rows.length;
    const compared = this.compare({ view, rows: isFirst ? [] : rows, setting, differences });
    await this.#mend(compared);
    this.#isUncertain = false;
    return compared.right;
  }

  /** What an inspection finds, and what it would write. */
  compare(of: {
    readonly view: KernelView;
    readonly rows: readonly Forwarding[];
    readonly setting: Setting;
    readonly differences: Differences;
  }): Compared {
    const { view, rows, setting, differences } = of;
    const { family } = this;
    const comparison = new Comparison({ family, view, differences });
    const right: ServicePortKey[] = [];
    for (const row of rows) {
      if (comparison.compare(row, rulesOf(row, setting))) right.push(servicePortKey(row.id));
    }
    const changes = tableChanges();
    mendFixedParts(changes, { family, view, setting, differences });
    const leftovers = comparison.leftovers();
    for (const { table, chain, rule } of leftovers.dispatch) changes[table].deleteRule(chain, rule);
    const { mangle, filter, nat } = changes;
    const { present } = comparison;
    return { right, present, changes: [mangle, filter, nat], staleChains: leftovers.chains };
  }

  async apply(changes: readonly Change[], setting: Setting): Promise<void> {
    const view = this.#isUncertain ? await this.read() : undefined;
    const transaction = new Transaction();
    for (const { key, before, after } of changes) {
      const rules = { before: rulesOf(before, setting), after: rulesOf(after, setting) };
      const known = this.#present.get(key);
      const present = view ? presentOf(view, [rules.before, rules.after, known]) : known;
      transaction.replace(key, { before: present ?? rules.before, after: rules.after });
    }
    const done = new Set<Step>();
    try {
      const stepOf = new Map(STEPS.map((step) => [transaction.change(step), step]));
      await this.#commit([...stepOf.keys()], (change) => {
        const step = stepOf.get(change);
        if (step) done.add(step);
      });
    } catch (error) {
      if (done.size > 0 || view) {
        for (const [key, rules] of transaction.presentAfter(done)) this.#present.set(key, rules);
      }
      throw error;
    }
    this.#isUncertain = false;
    for (const { key } of changes) this.#present.delete(key);
  }

  /** The kernel has these as `after` although the transaction as a whole failed. */
  keep(changes: readonly Change[], setting: Setting): void {
    for (const { key, after } of changes) this.#present.set(key, rulesOf(after, setting));
  }

  async configure(before: Setting, after: Setting): Promise<void> {
    const { family } = this;
    const changes = tableChanges();
    reconfigure(changes, { family, before, after, read: await this.read() });
    await this.#commit([changes.filter, changes.nat]);
  }

  async remove(): Promise<void> {
    const { first, rowChains, last } = cleanUp(await this.read());
    await this.#commit(first);
    this.#present.clear();
    const [refused] = await this.#removeChains(rowChains);
    if (refused) throw refused;
    await this.#commit([last]);
  }

  /** Chains that cannot go are told as differences already, and keep nothing else from being right. */
  async #mend({ changes, present, staleChains }: Compared): Promise<void> {
    await this.#commit(changes);
    for (const [key, rules] of present) this.#present.set(key, rules);
    await this.#removeChains(staleChains);
  }

  #removeChains(names: readonly string[]): Promise<PlaneError[]> {
    return removeChains(names, (changes) => this.#commit(changes));
  }

  async #commit(
    changes: readonly TableChange[],
    onDone?: (change: TableChange) => void,
  ): Promise<void> {
    try {
      await this.#committer.commit(changes, (change) => {
        this.#writtenCount += change.operationCount;
        onDone?.(change);
      });
    } catch (error) {
      if (error instanceof PlaneError && error.code === UNCERTAIN) this.#isUncertain = true;
      throw error;
    }
  }
}
