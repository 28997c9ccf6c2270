import type { Forwarding } from '../../forwarding/model.ts';
import type { NodeFacts } from '../contract.ts';

/** What the chains of a table depend on besides the rows. */
export interface TableFacts extends NodeFacts {
  /** TCP connections go to the forwarder while its ports are in the table (hand-over.ts). */
  readonly handsOver?: true;
}

export interface DesiredTables {
  readonly facts: TableFacts;
  readonly rows: readonly Forwarding[];
}
