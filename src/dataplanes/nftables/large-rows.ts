import type { ServicePortKey } from '../../forwarding/model.ts';
import { inTurns } from '../../time/in-turns.ts';
import type { RowChange } from '../contract.ts';
import type { Knowledge } from './nftables-knowledge.ts';
import { PlanProgress } from './plan-progress.ts';
import { abandonRow, type PlannedRow, planInTurns, presentBefore } from './planned-row.ts';

/** A row that is written in parts, and how far it has come. */
export interface LargeRow extends PlannedRow {
  readonly progress: PlanProgress;
}

/** Endpoints that are planned in one event loop iteration: some milliseconds. */
const PLANNED_AT_ONCE = 4096;

/** The rows that are being written in parts. */
export class LargeRows {
  readonly #rows = new Map<ServicePortKey, LargeRow>();

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  /**
   * The row as far as it is written. A change that is started is finished, even if another is
   * desired by then.
   */
  async begin(knowledge: Knowledge, change: RowChange): Promise<LargeRow | 'must wait'> {
    const known = this.#rows.get(change.key);
    if (known) return known;
    const planned = await inTurns(planInTurns(knowledge, change), PLANNED_AT_ONCE);
    if (this.#isBusy(planned)) {
      abandonRow(knowledge, planned);
      return 'must wait';
    }
    const row = { ...planned, progress: new PlanProgress(change.key, planned.plan) };
    this.#rows.set(change.key, row);
    return row;
  }

  finish({ key }: LargeRow): void {
    this.#rows.delete(key);
  }

  /** A part was rejected: notes what is there of the row, which is `unknown` from now on. */
  abandon(knowledge: Knowledge, row: LargeRow): void {
    this.#rows.delete(row.key);
    const present = row.progress.present(presentBefore(knowledge, row));
    abandonRow(knowledge, row);
    knowledge.present.set(row.key, present);
  }

  /** Whether another row is about to write or to remove a list of source ranges that this one uses. */
  #isBusy({ plan }: PlannedRow): boolean {
    const numbers = listsOf(plan);
    return this.#rows.values().some((row) => listsOf(row.plan).some((n) => numbers.includes(n)));
  }
}

function listsOf({ sources: { held, released } }: PlannedRow['plan']): number[] {
  return [held, released].flatMap((list) => (list === undefined ? [] : [list.number]));
}
