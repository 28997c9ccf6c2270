import { constants } from 'node:os';
import type { NftBatch } from '../nftables/batch.ts';
import { type NftConnection, NftRefusal } from '../nftables/connection.ts';
import type { TableRef } from '../nftables/objects.ts';
import type { TableFamily } from '../nftables/protocol.ts';
import type { Binary } from '../nftables/userdata.ts';
import type { IptablesTable } from '../xtables/iptables-programs.ts';
import { BUILT_IN_CHAINS } from './built-in-chains.ts';
import { findRules } from './find-rules.ts';
import { ruleExpressions } from './rule-expressions.ts';
import type { TableOperation, TableOperations } from './table-operations.ts';

const MOST_ATTEMPTS = 5;
const { ENOENT } = constants.errno;

/** The handles of the rules that are to be deleted. */
type Handles = ReadonlyMap<TableOperation, bigint>;

interface DeletionsOfChain {
  readonly table: TableRef;
  readonly chain: string;
  readonly deletions: { readonly operation: TableOperation; readonly expressions: Binary }[];
}

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
   * Returns whether it was written: all of it, or nothing if only the program can write or find one
   * of the rules.
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
        // Another process deleted a rule meanwhile: list the rules again.
        const isGone = handles.size > 0 && error instanceof NftRefusal && error.errno === ENOENT;
        if (!isGone || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  async #find(changes: readonly TableOperations[]): Promise<Handles> {
    const handles = new Map<TableOperation, bigint>();
    for (const { table, chain, deletions } of this.#deletions(changes)) {
      const found = await findRules(this.#connection, {
        table,
        chain,
        wanted: deletions.map(({ expressions }) => expressions),
      });
      for (const { operation, expressions } of deletions) {
        const handle = found.get(expressions)?.shift();
        if (handle !== undefined) handles.set(operation, handle);
      }
    }
    return handles;
  }

  #deletions(changes: readonly TableOperations[]): Iterable<DeletionsOfChain> {
    const byChain = new Map<string, DeletionsOfChain>();
    for (const { table, operations } of changes) {
      for (const operation of operations) {
        if (operation.kind !== 'delete') continue;
        const { chain } = operation;
        const rule = ruleExpressions(operation.rule, this.#family);
        if (!rule) continue;
        const id = `${table} ${chain}`;
        const known = byChain.get(id) ?? { table: this.#tableRef(table), chain, deletions: [] };
        known.deletions.push({ operation, expressions: rule.expressions });
        byChain.set(id, known);
      }
    }
    return byChain.values();
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

  /** Returns whether it could be encoded. */
  #putOne(
    batch: NftBatch,
    operation: TableOperation,
    { table, handle }: { table: TableRef; handle: bigint | undefined },
  ): boolean {
    const { kind, chain } = operation;
    if (kind === 'make') batch.addChain(table, { name: chain });
    else if (kind === 'fill') {
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
