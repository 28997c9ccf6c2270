import type { TableOperation, TableOperations } from '../../../linux/iptables/table-operations.ts';

/** A line of the input of `iptables-restore --noflush`, and the row it is there for. */
export interface OwnedLine {
  readonly text: string;
  readonly owner: string | undefined;
}

/** From `*table` to `COMMIT`. */
export function restoreLines({ table, operations }: TableOperations): OwnedLine[] {
  const lines: OwnedLine[] = [{ text: `*${table}`, owner: undefined }];
  for (const operation of operations) {
    lines.push({ text: textOf(operation), owner: operation.owner });
  }
  lines.push({ text: 'COMMIT', owner: undefined });
  return lines;
}

const OPTION = { append: '-A', insert: '-I', delete: '-D' } as const;

function textOf(operation: TableOperation): string {
  const { chain } = operation;
  if (operation.kind === 'make') return `-N ${chain}`;
  if (operation.kind === 'fill') return `:${chain} - [0:0]`;
  if (operation.kind === 'remove') return `-X ${chain}`;
  return `${OPTION[operation.kind]} ${chain} ${operation.rule}`;
}
