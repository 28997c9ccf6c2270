import type { ServicePortKey } from '../../forwarding/model.ts';
import type { IptablesTable } from '../../linux/iptables/programs.ts';
import type { RuleText } from './rule.ts';

/** A line of the input of `iptables-restore --noflush`, and the row it is there for. */
interface OwnedLine {
  readonly text: string;
  readonly owner: ServicePortKey | undefined;
}

/**
 * What is to be done to one table, in any order, put into the one in which it can be done at once:
 * chains are there before rules lead to them, and rules are gone before the chains they led to.
 */
export class TableChange {
  readonly table: IptablesTable;
  readonly #declared = new Map<string, OwnedLine>();
  readonly #deleted: OwnedLine[] = [];
  readonly #appended: OwnedLine[] = [];
  readonly #inserted: OwnedLine[] = [];
  readonly #last: OwnedLine[] = [];
  readonly #removed: OwnedLine[] = [];
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
    return this.#declared.size + rules + this.#last.length;
  }

  /** Makes the chain, or empties it; `rules` become its content. */
  fill(chain: string, rules: readonly RuleText[]): void {
    this.#declared.set(chain, this.#line(`:${chain} - [0:0]`));
    for (const rule of rules) this.#appended.push(this.#line(`-A ${chain} ${rule}`));
  }

  removeChain(chain: string): void {
    // A chain is made before it is removed: so it does not matter whether it is there.
    this.fill(chain, []);
    this.#removed.push(this.#line(`-X ${chain}`));
  }

  deleteRule(chain: string, rule: RuleText): void {
    this.#deleted.push(this.#line(`-D ${chain} ${rule}`));
  }

  append(chain: string, rule: RuleText): void {
    this.#appended.push(this.#line(`-A ${chain} ${rule}`));
  }

  /** At the top of the chain; of several the first given is the topmost. */
  insert(chain: string, rule: RuleText): void {
    this.#inserted.push(this.#line(`-I ${chain} ${rule}`));
  }

  /** After all else that is appended. */
  appendLast(chain: string, rule: RuleText): void {
    this.#last.push(this.#line(`-A ${chain} ${rule}`));
  }

  /** From `*table` to `COMMIT`. */
  lines(): OwnedLine[] {
    const none = { owner: undefined };
    return [
      { text: `*${this.table}`, ...none },
      ...this.#declared.values(),
      ...this.#deleted,
      ...this.#appended,
      ...this.#inserted.toReversed(),
      ...this.#last,
      ...this.#removed,
      { text: 'COMMIT', ...none },
    ];
  }

  #line(text: string): OwnedLine {
    return { text, owner: this.#owner };
  }
}
