import { SourceLists } from './firewall.ts';
import { ROW_BITS } from './groups.ts';
import { Numbers } from './numbers.ts';
import { SOURCE_LIST_BITS } from './source-ranges.ts';

/** Numbers of service ports and of lists of source ranges. */
export interface RowNumbers {
  readonly rows: Numbers;
  readonly sources: Numbers;
  /** The contents of lists, cached for as long as the Service that has them. */
  readonly sourceLists: SourceLists;
}

export function newRowNumbers(): RowNumbers {
  return {
    rows: new Numbers(ROW_BITS),
    sources: new Numbers(SOURCE_LIST_BITS),
    sourceLists: new SourceLists(),
  };
}
