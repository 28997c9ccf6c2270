import type { Inspection, NodeFacts } from '../dataplanes/contract.ts';
import { type Forwarding, servicePortKey } from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import type { Context } from './context.ts';
import { type Failure, failureOf } from './failure.ts';
import type { InspectionPlan, WantedInspection } from './inspection-plan.ts';
import type { InspectionReason, InspectionReport } from './observer.ts';
import { acknowledgedChange, type Entry, isRemoval } from './outstanding-entry.ts';

/** Compares the kernel with the desired state, and corrects which rows count as applied. */
export class Inspector {
  readonly #context: Context;
  readonly #plan: InspectionPlan;
  readonly #routineMs: number;
  #last: InspectionReport | undefined;
  #failure: Failure | undefined;

  constructor(context: Context, plan: InspectionPlan, routineMs: number) {
    this.#context = context;
    this.#plan = plan;
    this.#routineMs = routineMs;
  }

  get last(): InspectionReport | undefined {
    return this.#last;
  }

  /** Why the last one could not be made; undefined: it could. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /**
   * Returns the facts that the plane has now, or undefined if it failed. Changes must have been
   * taken from the table just before.
   */
  async inspect(wanted: WantedInspection): Promise<NodeFacts | undefined> {
    const { plane, intake, outstanding, clock } = this.#context;
    const { facts } = intake;
    const rows = intake.table.rows();
    // A plane assumes that unreported rows are as desired, which is not true of rows that are still
    // to be written.
    const depth = outstanding.size > 0 ? 'everything' : wanted.depth;
    const startedAtMs = clock.monotonicMs();
    let inspection: Inspection;
    try {
      inspection = await plane.inspect({ facts, rows }, depth);
    } catch (error) {
      this.#failed(wanted, error);
      return undefined;
    }
    const wrong = this.#correct(rows, inspection, { ...wanted, depth });
    const nowMs = clock.monotonicMs();
    this.#plan.done(depth, { startedAtMs, nowMs, routineMs: this.#routineMs });
    this.#failure = undefined;
    const { reason } = wanted;
    const durationMs = nowMs - startedAtMs;
    const { writeCount, differenceCount, differences } = inspection;
    const found = { writeCount, differenceCount, differences };
    const counts = { rowCount: rows.length, wrongCount: wrong };
    this.#report({ depth, reason, atMs: nowMs, durationMs, ...counts, ...found });
    return facts;
  }

  #failed(wanted: WantedInspection, error: unknown): void {
    const { clock, intake, log, observers, outstanding } = this.#context;
    const nowMs = clock.monotonicMs();
    // An inspection makes the plane forget which part is next, also an inspection that fails.
    for (const entry of [...outstanding.inParts]) outstanding.doubt(entry);
    const failure = failureOf(error, nowMs);
    this.#failure = failure;
    this.#plan.failed(wanted, { nowMs, mostMs: intake.settings.syncPeriodMs });
    const attempts = this.#plan.failures;
    log.error({ code: failure.code, attempts }, `cannot inspect the kernel: ${failure.message}`);
    observers.tell((observer) => observer.onInspectionFailed?.(failure));
  }

  /** Gives how many rows were not right. */
  #correct(
    rows: readonly Forwarding[],
    { right }: Inspection,
    { depth, reason }: WantedInspection,
  ): number {
    const { outstanding, clock } = this.#context;
    const nowMs = clock.monotonicMs();
    const settled = depth === 'everything' ? [...outstanding.entries()].filter(isRemoval) : [];
    const wrong: Forwarding[] = [];
    for (const row of rows) {
      const key = servicePortKey(row.id);
      if (!right.has(key)) wrong.push(row);
      // An inspection of reported changes does not cover rows that are still to be written.
      else if (depth === 'everything') settled.push(...entryOf(outstanding.get(key)));
    }
    this.#settle(settled, reason);
    for (const row of urgentFirst(wrong)) {
      // At the start the kernel nearly always has none of them.
      outstanding.distrust(row, { nowMs, leftovers: reason === 'start' ? [] : [row] });
    }
    return wrong.length;
  }

  /** Rows that the kernel has as desired, and removals: observers learn of them as of any write. */
  #settle(entries: readonly Entry[], reason: InspectionReason): void {
    const { outstanding, clock, propagations, observers } = this.#context;
    const atMs = clock.monotonicMs();
    // At the start every row that is found is settled at once; `onFirstSync` reports them together.
    const changes = reason === 'start' ? [] : entries.map(settledChange);
    for (const entry of entries) outstanding.acknowledge(entry);
    const ended = propagations.acknowledged(entries, atMs);
    if (changes.length === 0) return;
    const acknowledged = { changes, atMs, durationMs: 0, propagations: ended };
    observers.tell((observer) => observer.onAcknowledged?.(acknowledged));
  }

  #report(report: InspectionReport): void {
    const { log, observers } = this.#context;
    this.#last = report;
    const { differences, atMs: _, ...counts } = report;
    const [first] = differences;
    // At a start differences are expected, and without any there is no news.
    const level = report.differenceCount > 0 && report.reason !== 'start' ? 'warn' : 'debug';
    log[level]({ ...counts, ...(first ? { first: first.object } : {}) }, 'inspected the kernel');
    observers.tell((observer) => observer.onInspected?.(report));
  }
}

function settledChange(entry: Entry): Change {
  const { key, id, applied: before, desired: after } = entry;
  return acknowledgedChange({ key, id, before, after }, entry);
}

function entryOf(entry: Entry | undefined): Entry[] {
  return entry === undefined ? [] : [entry];
}

/** Without DNS and the API nothing else on the node works either. */
function urgentFirst(rows: readonly Forwarding[]): Forwarding[] {
  const isUrgent = ({ id, frontends }: Forwarding): boolean =>
    (id.namespace === 'default' && id.service === 'kubernetes') ||
    frontends.some(({ port }) => port === 53);
  return [...rows.filter(isUrgent), ...rows.filter((row) => !isUrgent(row))];
}
