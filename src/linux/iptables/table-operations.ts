import type { IptablesTable } from './programs.ts';

interface Operation {
  readonly chain: string;
  /** Owner of the operation, for attributing a rejection. */
  readonly owner: string | undefined;
}

/**
 * `make` makes a chain that is not there, `fill` makes one or empties it, `remove` takes away one
 * that is empty. Whether `make` is refused for a chain that somebody else has made meanwhile
 * depends on the writer; it is never emptied.
 */
export type TableOperation =
  | (Operation & { readonly kind: 'make' })
  | (Operation & { readonly kind: 'fill' })
  | (Operation & { readonly kind: 'remove' })
  | (Operation & { readonly kind: 'append' | 'insert' | 'delete'; readonly rule: string });

/** What is done to a table, in this order. */
export interface TableOperations {
  readonly table: IptablesTable;
  readonly operations: readonly TableOperation[];
}
