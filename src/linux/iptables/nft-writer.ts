import type { NftBatch } from '../nftables/batch.ts';
import { type NftConnection, NftRefusal } from '../nftables/connection.ts';
import { withoutCounts } from '../nftables/listed-expressions.ts';
import type { TableRef } from '../nftables/objects.ts';
import type { TableFamily } from '../nftables/protocol.ts';
import type { Binary } from '../nftables/userdata.ts';
import { BUILT_IN_CHAINS } from './built-in-chains.ts';
import type { IptablesTable } from './programs.ts';
import { ruleExpressions } from './rule-expressions.ts';
import type { TableOperation, TableOperations } from './table-operations.ts';

const MOST_ATTEMPTS = 5;
const ENOENT = 2;

/** The handles of the rules that are to be deleted. */
type Handles = ReadonlyMap<TableOperation, bigint>;

/**
 * Writes the tables of the nft backend of one family without its program: the same objects, in one
 * transaction for all tables. One call at a time.
 */
export class NftTablesWriter {
  readonly #connection: NftConnection;
  readonly #family: TableFamily;

  constructor(connection: NftConnection, family: TableFamily) {
    this.#connection = connection;
    this.#family = family;
  }

  /**
   * Says whether it was written: all of it, or nothing, where there is a rule that only the program
   * knows how to write or to find.
   */
  async write(changes: readonly TableOperations[]): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const handles = await this.#find(changes);
      const batch = this.#connection.begin();
      const isKnown = changes.every((change) => this.#put(batch, change, handles));
      if (!isKnown) return false;
      try {
        await this.#connection.commit(batch);
        return true;
      } catch (error) {
        // Somebody else was quicker to delete a rule: it is looked for again.
        const isGone = handles.size > 0 && error instanceof NftRefusal && error.errno === ENOENT;
        if (!isGone || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  async #find(changes: readonly TableOperations[]): Promise<Handles> {
    const handles = new Map<TableOperation, bigint>();
    const finders = new Map<IptablesTable, RuleFinder>();
    for (const { table, operations } of changes) {
      const finder = finders.get(table) ?? new RuleFinder(this.#connection, this.#tableRef(table));
      finders.set(table, finder);
      for (const operation of operations) {
        if (operation.kind !== 'delete') continue;
        const rule = ruleExpressions(operation.rule, this.#family);
        const handle = rule && (await finder.take(operation.chain, rule.expressions));
        if (handle !== undefined) handles.set(operation, handle);
      }
    }
    return handles;
  }

  #put(batch: NftBatch, { table, operations }: TableOperations, handles: Handles): boolean {
    const ref = this.#tableRef(table);
    batch.own('');
    batch.addTable(ref);
    for (const chain of new Set(operations.filter(isAdding).map((one) => one.chain))) {
      // One that is there stays as it is, with its policy.
      const base = BUILT_IN_CHAINS[table][chain];
      if (base) batch.addChain(ref, { name: chain, base });
    }
    return operations.every((operation) => {
      batch.own(operation.owner ?? '');
      return this.#putOne(batch, operation, { table: ref, handle: handles.get(operation) });
    });
  }

  /** Says whether it could be said. */
  #putOne(
    batch: NftBatch,
    operation: TableOperation,
    { table, handle }: { table: TableRef; handle: bigint | undefined },
  ): boolean {
    const { kind, chain } = operation;
    if (kind === 'fill') {
      batch.addChain(table, { name: chain });
      batch.flushChain(table, chain);
    } else if (kind === 'remove') batch.deleteChain(table, chain);
    else if (kind === 'delete') {
      if (handle === undefined) return false;
      batch.deleteRule(table, { chain, handle });
    } else {
      const rule = ruleExpressions(operation.rule, this.#family);
      if (!rule) return false;
      batch.addListedRule(table, { chain, ...rule, place: kind === 'insert' ? 'first' : 'last' });
    }
    return true;
  }

  #tableRef(table: IptablesTable): TableRef {
    return { family: this.#family, name: table };
  }
}

function isAdding({ kind }: TableOperation): boolean {
  return kind === 'append' || kind === 'insert';
}

/** Knows the handles of the rules in those chains that it is asked about. */
class RuleFinder {
  readonly #connection: NftConnection;
  readonly #table: TableRef;
  readonly #chains = new Map<string, Map<Binary, bigint[]>>();

  constructor(connection: NftConnection, table: TableRef) {
    this.#connection = connection;
    this.#table = table;
  }

  /** The first such rule that was not taken before. */
  async take(chain: string, expressions: Binary): Promise<bigint | undefined> {
    const known = this.#chains.get(chain) ?? (await this.#read(chain));
    return known.get(expressions)?.shift();
  }

  async #read(chain: string): Promise<Map<Binary, bigint[]>> {
    const rules = new Map<Binary, bigint[]>();
    for (const { handle, expressions } of await this.#connection.listedRules(this.#table, chain)) {
      const key = withoutCounts(expressions);
      const same = rules.get(key);
      if (same) same.push(handle);
      else rules.set(key, [handle]);
    }
    this.#chains.set(chain, rules);
    return rules;
  }
}
