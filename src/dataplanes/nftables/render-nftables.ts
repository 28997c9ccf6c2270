import { tableText } from '../shared/nft/table-text.ts';
import { TABLE_COMMENT, TABLES } from './nftables-sets.ts';
import type { TableContent } from './table-content.ts';

/** The output of `nft list table` for a newly created table (nft 1.0.6). */
export function renderTable({ family, ...content }: TableContent): string {
  return tableText({
    ...content,
    table: TABLES[family],
    comment: TABLE_COMMENT,
  });
}
