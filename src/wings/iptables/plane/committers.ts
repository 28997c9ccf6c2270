import { culpritOf } from '../../../dataplanes/shared/rejections.ts';
import type { NftTablesWriter } from '../../../linux/iptables/nft-writer.ts';
import type { RestoreProcess } from '../../../linux/iptables/restore-process.ts';
import { NetlinkError } from '../../../linux/netlink/errors.ts';
import { NftRefusal } from '../../../linux/nftables/connection.ts';
import { IptablesError } from '../../../linux/xtables/iptables-error.ts';
import { asPlaneError } from './plane-errors.ts';
import { restoreLines } from './restore-lines.ts';
import type { TableChange } from './table-change.ts';

/** Brings changes of tables into the kernel, in their order. */
export interface Committer {
  /**
   * Rejects with a `PlaneError`; `onDone` was called before for the changes that the kernel has.
   */
  commit(changes: readonly TableChange[], onDone: (change: TableChange) => void): Promise<void>;
}

/** By the program: each table is a transaction of its own. */
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
    const lines = restoreLines(change);
    try {
      await this.#process.commit(lines.map(({ text }) => text));
    } catch (error) {
      if (!(error instanceof IptablesError)) throw error;
      throw asPlaneError(error, error.line === undefined ? undefined : lines[error.line]?.owner);
    }
  }
}

/** By netlink: one transaction for all tables. What it cannot encode is left to the program. */
export class NetlinkCommitter implements Committer {
  readonly #writer: NftTablesWriter;
  readonly #program: Committer;

  constructor(writer: NftTablesWriter, program: Committer) {
    this.#writer = writer;
    this.#program = program;
  }

  async commit(
    changes: readonly TableChange[],
    onDone: (change: TableChange) => void,
  ): Promise<void> {
    if (await this.#write(changes.filter(({ isEmpty }) => !isEmpty))) changes.forEach(onDone);
    else await this.#program.commit(changes, onDone);
  }

  async #write(changes: readonly TableChange[]): Promise<boolean> {
    try {
      return await this.#writer.write(changes);
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      const isRejection = error instanceof NftRefusal;
      const code = isRejection ? 'IPTABLES_REFUSED' : 'IPTABLES_UNCERTAIN';
      const { culprit } = isRejection ? culpritOf(error) : {};
      throw asPlaneError(new IptablesError(code, error.message, { cause: error }), culprit);
    }
  }
}
