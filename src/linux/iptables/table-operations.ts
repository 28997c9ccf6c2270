import type { IptablesTable } from './programs.ts';

interface Operation {
  readonly chain: string;
  /** For whom it is done, so that a refusal can be told to the one it concerns. */
  readonly owner: string | undefined;
}

/** `fill` makes a chain or empties it, `remove` takes away one that is empty. */
export type TableOperation =
  | (Operation & { readonly kind: 'fill' })
  | (Operation & { readonly kind: 'remove' })
  | (Operation & { readonly kind: 'append' | 'insert' | 'delete'; readonly rule: string });

/** What is done to a table, in this order. */
export interface TableOperations {
  readonly table: IptablesTable;
  readonly operations: readonly TableOperation[];
}
