import type { RowChange } from '../dataplanes/contract.ts';
import type { StepLimits } from './fair-queue.ts';
import { changeOf, type Entry } from './outstanding-entry.ts';
import { type HolderOf, holdersFor, lightestInCircle, type Unit, unitsOf } from './units.ts';
import { entryWeight, removalWeight } from './weight.ts';

/** A change that is written by itself, because it is too large to share a transaction. */
export interface PartTask {
  readonly entry: Entry;
  readonly change: RowChange;
  readonly objectCount: number;
}

/** The actions of one step for the rows that it was given. */
export interface WritePlan {
  /** One after the other; each is within the limits, or a single unit. */
  readonly transactions: readonly (readonly Unit[])[];
  /** After them. */
  readonly part: PartTask | undefined;
  /** Rows that were asked for and want an address that this step does not free yet. */
  readonly postponed: readonly Entry[];
}

export interface PlanOptions {
  /** Undefined: no row is about to give up anything. */
  readonly holderOf: HolderOf | undefined;
  readonly limits: StepLimits;
  /** Whether the plane can write a row in parts; if not, a large row is a transaction of its own. */
  readonly hasParts: boolean;
}

/**
 * Divides rows into transactions. A row that is larger than one is written separately and in parts,
 * one part in a step, so that no row waits for all of another. Rows that exchange addresses and are
 * together too large for one transaction are separated: one of them is removed first, and until it
 * is written again connections to its addresses are rejected.
 */
export function planWrite(entries: readonly Entry[], options: PlanOptions): WritePlan {
  const { holderOf } = options;
  const plan = new Planning(options, new Set(entries));
  const units = holderOf ? unitsOf(entries, holderOf) : entries.map((entry) => [entry]);
  for (const unit of units) plan.add(unit);
  return plan.result(entries);
}

class Planning {
  readonly #options: PlanOptions;
  readonly #asked: ReadonlySet<Entry>;
  readonly #transactions: Unit[][] = [];
  readonly #postponed = new Set<Entry>();
  #part: PartTask | undefined;
  #objectCount = 0;
  #broughtInRows = 0;
  #broughtInObjects = 0;

  constructor(options: PlanOptions, asked: ReadonlySet<Entry>) {
    this.#options = options;
    this.#asked = asked;
  }

  add(unit: Unit): void {
    const objectCount = unit.reduce((sum, entry) => sum + entryWeight(entry), 0);
    const isLarge = this.#options.hasParts && objectCount > this.#options.limits.objects;
    if (this.#waits(unit)) this.#postpone(unit);
    else if (isLarge) this.#writeApart(unit);
    else if (!this.#mayBringIn(unit, objectCount)) this.#postpone(unit);
    else this.#write(unit, objectCount);
  }

  result(entries: readonly Entry[]): WritePlan {
    const postponed = entries.filter(
      (entry) => this.#postponed.has(entry) && entry !== this.#part?.entry,
    );
    return { transactions: this.#transactions, part: this.#part, postponed };
  }

  #write(unit: Unit, objectCount: number): void {
    const open = this.#transactions.at(-1);
    if (open === undefined || this.#objectCount + objectCount > this.#options.limits.objects) {
      this.#transactions.push([unit]);
      this.#objectCount = objectCount;
      return;
    }
    open.push(unit);
    this.#objectCount += objectCount;
  }

  #writeApart(unit: Unit): void {
    this.#part ??= this.#taskOf(unit);
    this.#postpone(unit);
  }

  #taskOf(unit: Unit): PartTask | undefined {
    const [only] = unit;
    if (unit.length === 1 && only !== undefined) {
      return { entry: only, change: changeOf(only), objectCount: entryWeight(only) };
    }
    const { holderOf } = this.#options;
    const entry = holderOf && lightestInCircle(unit, holderOf);
    if (entry === undefined) return undefined;
    const change = { ...changeOf(entry), after: undefined };
    return { entry, change, objectCount: removalWeight(entry) };
  }

  #postpone(unit: Unit): void {
    for (const entry of unit) this.#postponed.add(entry);
  }

  #waits(unit: Unit): boolean {
    const { holderOf } = this.#options;
    if (this.#postponed.size === 0 || holderOf === undefined) return false;
    return unit.some((entry) =>
      holdersFor(entry, holderOf).some((holder) => this.#postponed.has(holder)),
    );
  }

  /** A long chain of rows that hand over addresses must not exclude the requested rows. */
  #mayBringIn(unit: Unit, objectCount: number): boolean {
    if (unit.some((entry) => this.#asked.has(entry))) return true;
    const { rows, objects } = this.#options.limits;
    this.#broughtInRows += unit.length;
    this.#broughtInObjects += objectCount;
    // Always at least one, or a plane without parts could never write a large one.
    if (this.#broughtInRows === unit.length) return true;
    return this.#broughtInRows <= rows && this.#broughtInObjects <= objects;
  }
}
