import { SourceLists } from './firewall.ts';
import { ROW_BITS } from './groups.ts';
import { Numbers } from './numbers.ts';
import { SOURCE_LIST_BITS } from './source-ranges.ts';

/** Numbers of what rows are made of: of service ports, and of lists of source ranges. */
export interface RowNumbers {
  readonly rows: Numbers;
  readonly sources: Numbers;
  /** What lists are made of, kept for as long as the Service that says so. */
  readonly sourceLists: SourceLists;
}

export function newRowNumbers(): RowNumbers {
  return {
    rows: new Numbers(ROW_BITS),
    sources: new Numbers(SOURCE_LIST_BITS),
    sourceLists: new SourceLists(),
  };
}
