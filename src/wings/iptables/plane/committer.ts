import type { ServicePortKey } from '../../../forwarding/model.ts';
import type { RestoreProcess } from '../../../linux/iptables/restore-process.ts';
import { IptablesError } from '../../../linux/xtables/iptables-error.ts';
import { asPlaneError } from './iptables-rejection.ts';
import type { TableChange, TableOperation } from './table-change.ts';

/** Brings changes of tables into the kernel, in their order. */
export interface Committer {
  /**
   * Rejects with a `PlaneError`; `onDone` was called before for the changes that the kernel has.
   */
  commit(changes: readonly TableChange[], onDone: (change: TableChange) => void): Promise<void>;
}

/** By `iptables-restore`: each table is a transaction of its own. */
export class ProgramCommitter implements Committer {
  readonly #process: RestoreProcess;

  constructor(process: RestoreProcess) {
    this.#process = process;
  }

  async commit(
    changes: readonly TableChange[],
    onDone: (change: TableChange) => void,
  ): Promise<void> {
    for (const change of changes) {
      if (!change.isEmpty) await this.#commitOne(change);
      onDone(change);
    }
  }

  async #commitOne(change: TableChange): Promise<void> {
    try {
      await this.#process.commit(restoreLines(change));
    } catch (error) {
      if (!(error instanceof IptablesError)) throw error;
      throw asPlaneError(error, ownerOfLine(change, error.line));
    }
  }
}

/** The change as input of `iptables-restore --noflush`, from `*table` to `COMMIT`. */
export function restoreLines({ table, operations }: TableChange): string[] {
  return [`*${table}`, ...operations.map(lineOf), 'COMMIT'];
}

/** The row that a line of `restoreLines` is there for. */
export function ownerOfLine(
  { operations }: TableChange,
  line: number | undefined,
): ServicePortKey | undefined {
  return line === undefined ? undefined : operations[line - 1]?.owner;
}

const OPTION = { append: '-A', insert: '-I', delete: '-D' } as const;

function lineOf(operation: TableOperation): string {
  const { chain } = operation;
  if (operation.kind === 'make') return `-N ${chain}`;
  if (operation.kind === 'fill') return `:${chain} - [0:0]`;
  if (operation.kind === 'remove') return `-X ${chain}`;
  return `${OPTION[operation.kind]} ${chain} ${operation.rule}`;
}
