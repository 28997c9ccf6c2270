import type { ServicePortKey } from '../../../forwarding/model.ts';
import type { IptablesTable } from '../../../linux/xtables/iptables-programs.ts';
import type { SavedTable } from '../../../linux/xtables/saved-table.ts';
import type { RuleText } from './rule.ts';

/** Each deletion costs the program a comparison with all rules of the chain. */
const MOST_DELETIONS = 100;

interface Operation {
  readonly chain: string;
  /** The row it is there for, which a rejection of it names. */
  readonly owner: ServicePortKey | undefined;
}

interface RuleOperation extends Operation {
  readonly kind: 'append' | 'insert' | 'delete';
  readonly rule: RuleText;
}

/**
 * `make` creates a missing chain and is rejected if another process has created it meanwhile: its
 * rules stay. `fill` creates or empties a chain, `remove` deletes an empty one.
 */
export type TableOperation =
  | (Operation & { readonly kind: 'make' })
  | (Operation & { readonly kind: 'fill' })
  | (Operation & { readonly kind: 'remove' })
  | RuleOperation;

/**
 * The changes of one table, collected in any order and sorted so that they can be applied at once:
 * chains are created before the rules that jump to them, and rules are deleted before their target
 * chains.
 */
export class TableChange {
  readonly table: IptablesTable;
  readonly #made: TableOperation[] = [];
  readonly #filled = new Map<string, TableOperation>();
  #deleted: RuleOperation[] = [];
  #appended: RuleOperation[] = [];
  readonly #inserted: RuleOperation[] = [];
  readonly #last: RuleOperation[] = [];
  readonly #removed: TableOperation[] = [];
  #owner: ServicePortKey | undefined;

  constructor(table: IptablesTable) {
    this.table = table;
  }

  /** Whatever follows is there for this row. */
  own(owner: ServicePortKey | undefined): void {
    this.#owner = owner;
  }

  get isEmpty(): boolean {
    return this.operationCount === 0;
  }

  get operationCount(): number {
    const rules = this.#deleted.length + this.#appended.length + this.#inserted.length;
    return this.#made.length + this.#filled.size + rules + this.#last.length;
  }

  /** Rules that it writes. */
  get newRuleCount(): number {
    return this.#appended.length + this.#inserted.length + this.#last.length;
  }

  /** Adds a chain; rules that another process adds to it meanwhile stay. */
  make(chain: string): void {
    this.#made.push({ kind: 'make', chain, owner: this.#owner });
  }

  /** Makes the chain, or empties it; `rules` become its content. */
  fill(chain: string, rules: readonly RuleText[]): void {
    this.#filled.set(chain, { kind: 'fill', chain, owner: this.#owner });
    for (const rule of rules) this.append(chain, rule);
  }

  removeChain(chain: string): void {
    // A chain is made before it is removed: so it does not matter whether it is there.
    this.fill(chain, []);
    this.#removed.push({ kind: 'remove', chain, owner: this.#owner });
  }

  deleteRule(chain: string, rule: RuleText): void {
    this.#deleted.push({ kind: 'delete', chain, rule, owner: this.#owner });
  }

  append(chain: string, rule: RuleText): void {
    this.#appended.push({ kind: 'append', chain, rule, owner: this.#owner });
  }

  /** At the top of the chain; of several the first given is the topmost. */
  insert(chain: string, rule: RuleText): void {
    this.#inserted.push({ kind: 'insert', chain, rule, owner: this.#owner });
  }

  /** After all else that is appended. */
  appendLast(chain: string, rule: RuleText): void {
    this.#last.push({ kind: 'append', chain, rule, owner: this.#owner });
  }

  /** Fills a chain with the rules that it keeps, if many go; `found`: the chains as they are. */
  refillShrunk(found: SavedTable): void {
    for (const [chain, deletions] of Map.groupBy(this.#deleted, (each) => each.chain)) {
      if (deletions.length <= MOST_DELETIONS) continue;
      const gone = Map.groupBy(deletions, ({ rule }) => rule);
      const kept = (found.get(chain) ?? []).filter((rule) => gone.get(rule)?.pop() === undefined);
      const appended = this.#appended;
      this.#appended = [];
      this.#deleted = this.#deleted.filter((each) => each.chain !== chain);
      this.own(undefined);
      this.fill(chain, kept);
      this.#appended.push(...appended);
    }
  }

  get operations(): readonly TableOperation[] {
    return [
      ...this.#made,
      ...this.#filled.values(),
      ...this.#deleted,
      ...this.#appended,
      ...this.#inserted.toReversed(),
      ...this.#last,
      ...this.#removed,
    ];
  }
}
