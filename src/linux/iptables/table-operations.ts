import type { IptablesTable } from '../xtables/iptables-programs.ts';

interface Operation {
  readonly chain: string;
  /** Owner of the operation, for attributing a rejection. */
  readonly owner: string | undefined;
}

/**
 * `make` creates a missing chain, `fill` creates or empties one, `remove` deletes an empty one.
 * Whether `make` is rejected for a chain that another process has created meanwhile depends on the
 * writer; it is never emptied.
 */
export type TableOperation =
  | (Operation & { readonly kind: 'make' })
  | (Operation & { readonly kind: 'fill' })
  | (Operation & { readonly kind: 'remove' })
  | (Operation & { readonly kind: 'append' | 'insert' | 'delete'; readonly rule: string });

/** The operations on a table, in this order. */
export interface TableOperations {
  readonly table: IptablesTable;
  readonly operations: readonly TableOperation[];
}
