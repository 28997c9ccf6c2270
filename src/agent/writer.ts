import { setImmediate as turn } from 'node:timers/promises';
import { PlaneError } from '../dataplanes/contract.ts';
import { retryDelayMs } from '../time/retry-delay.ts';
import type { Context } from './context.ts';
import { type Failure, failureOf, isUnknownAfter } from './failure.ts';
import type { StepLimits } from './fair-queue.ts';
import type { StepFailure } from './observer.ts';
import {
  acknowledgedChange,
  changeOf,
  type Entry,
  familiesOf,
  serviceOf,
} from './outstanding-entry.ts';
import { PartWriter } from './part-writer.ts';
import { splitUntilDone } from './split.ts';
import { holdersFor, type Unit } from './units.ts';
import { type PartTask, planWrite } from './write-plan.ts';

interface Rejection {
  readonly error: unknown;
  readonly failure: Failure;
}

export interface WriteOptions {
  /**
   * Each has failed on its own before: if all fail again, that does not mean that the plane fails.
   */
  readonly failedAlone: boolean;
  readonly limits: StepLimits;
  readonly signal: AbortSignal;
}

/** Everything fails: no writes for a while. */
export interface Pause {
  readonly attempts: number;
  readonly untilMs: number;
  readonly failure: Failure;
}

interface Tally {
  transactionCount: number;
  acknowledgedCount: number;
  /** The last one, of a row or of everything. */
  failure?: Failure;
}

/** Bisect less while every write fails. */
const MAX_FAILURES = 16;
const MAX_FAILURES_WHILE_ALL_FAIL = 4;

/** Rows of a failed step whose Services are told. */
const ROWS_NAMED = 16;

/** After this many rejections of a row the kernel may differ from what is assumed: inspect it. */
const ATTEMPTS_BEFORE_INSPECTION = 3;

/** Writes rows to the kernel, and finds those that it rejects. */
export class Writer {
  readonly #context: Context;
  readonly #partWriter: PartWriter;
  #pause: Pause | undefined;
  #needsInspection = false;

  constructor(context: Context) {
    this.#context = context;
    this.#partWriter = new PartWriter(context);
  }

  get pause(): Pause | undefined {
    return this.#pause;
  }

  /** Whether failures since the last call make an inspection necessary. */
  takeNeedsInspection(): boolean {
    const needsInspection = this.#needsInspection;
    this.#needsInspection = false;
    return needsInspection;
  }

  /** The cause of the failures may be gone. */
  resume(): void {
    this.#pause = undefined;
    this.#context.outstanding.retryAll(this.#context.clock.monotonicMs());
  }

  async write(entries: readonly Entry[], options: WriteOptions): Promise<void> {
    const { plane, clock, outstanding, observers } = this.#context;
    const startedAtMs = clock.monotonicMs();
    const tally: Tally = { transactionCount: 0, acknowledgedCount: 0 };
    const { transactions, part, postponed } = planWrite(entries, {
      holderOf: outstanding.hasHolders ? (claim) => outstanding.holderOf(claim) : undefined,
      limits: options.limits,
      hasParts: plane.applyPart !== undefined,
    });
    const isTaken = await this.#writeAll(transactions, { ...options, tally });
    if (isTaken && part !== undefined) await this.#writePart(part, options.limits, tally);
    // Otherwise they would be retried at once, and with them what they wait for.
    if (tally.failure !== undefined) this.#reject(postponed, tally.failure);
    const { transactionCount, acknowledgedCount } = tally;
    const durationMs = clock.monotonicMs() - startedAtMs;
    const families = familiesOf(entries);
    const pendingCount = outstanding.size;
    const { failedCount } = outstanding;
    const counts = { transactionCount, acknowledgedCount, pendingCount, failedCount };
    observers.tell((o) => o.onStep?.({ ...counts, startedAtMs, durationMs, families }));
  }

  /** Gives whether the plane accepts anything, and the signal is not aborted. */
  async #writeAll(
    transactions: readonly (readonly Unit[])[],
    { failedAlone, signal, tally }: WriteOptions & { readonly tally: Tally },
  ): Promise<boolean> {
    for (const units of transactions) {
      const total = await splitUntilDone(units, {
        attempt: (some) => this.#attempt(some.flat(), tally),
        culpritOf,
        reject: (unit, { failure }) => {
          tally.failure = failure;
          this.#reject(unit, failure);
        },
        maxFailuresInARow: this.#pause === undefined ? MAX_FAILURES : MAX_FAILURES_WHILE_ALL_FAIL,
        signal,
      });
      if (total === undefined) continue;
      tally.failure = total.rejection.failure;
      this.#rejectRest(total.rest.flat(), total.rejection, failedAlone);
      return false;
    }
    return !signal.aborted;
  }

  async #writePart(task: PartTask, limits: StepLimits, tally: Tally): Promise<void> {
    const { outstanding } = this.#context;
    const { entry } = task;
    const [holder] = holdersFor(entry, (claim) => outstanding.holderOf(claim));
    const isRemoval = task.change.after === undefined;
    if (holder?.failure !== undefined && !isRemoval) {
      // It still has an address that this row wants, and the kernel would reject the change.
      this.#reject([entry], holder.failure.last);
      return;
    }
    if (tally.transactionCount > 0) await turn();
    tally.transactionCount++;
    const result = await this.#partWriter.write(task, limits);
    if (result.state === 'failed') {
      tally.failure = result.failure;
      this.#reject([entry], result.failure);
      return;
    }
    if (result.state === 'finished') tally.acknowledgedCount++;
    if (this.#pause !== undefined) this.resume();
  }

  async #attempt(entries: readonly Entry[], tally: Tally): Promise<Rejection | undefined> {
    const { plane, clock, outstanding, propagations, observers } = this.#context;
    if (tally.transactionCount > 0) await turn();
    tally.transactionCount++;
    const changes = entries.map(changeOf);
    const begunMs = clock.monotonicMs();
    try {
      await plane.apply(changes);
    } catch (error) {
      for (const entry of entries) {
        if (isUnknownAfter(error, entry)) outstanding.doubt(entry, entry.desired);
      }
      return { error, failure: failureOf(error, clock.monotonicMs()) };
    }
    const atMs = clock.monotonicMs();
    for (const entry of entries) outstanding.acknowledge(entry);
    tally.acknowledgedCount += entries.length;
    if (this.#pause !== undefined) this.resume();
    const ended = propagations.acknowledged(entries, atMs);
    const told = entries.map((entry, index) =>
      acknowledgedChange(changes[index] ?? changeOf(entry), entry),
    );
    const acknowledged = { changes: told, atMs, durationMs: atMs - begunMs, propagations: ended };
    observers.tell((observer) => observer.onAcknowledged?.(acknowledged));
    return undefined;
  }

  #reject(unit: Unit, failure: Failure): void {
    const { outstanding, observers, clock, log } = this.#context;
    if (unit.length === 0) return;
    for (const entry of unit) {
      const attempts = (entry.failure?.attempts ?? 0) + 1;
      const retryAtMs = clock.monotonicMs() + this.#delayMs(attempts);
      if (attempts === ATTEMPTS_BEFORE_INSPECTION) this.#needsInspection = true;
      outstanding.reject(entry, { scope: 'row', retryAtMs, last: failure });
      const { key } = entry;
      log.warn(
        { row: key, attempts, code: failure.code },
        `cannot write a row to the kernel: ${failure.message}`,
      );
    }
    const about = { ...rowsOf(unit), scope: 'row' } as const;
    observers.tell((observer) => observer.onStepFailed?.({ ...failure, ...about }));
  }

  #rejectRest(entries: readonly Entry[], { failure }: Rejection, failedAlone: boolean): void {
    const { outstanding, observers, clock, log } = this.#context;
    const scope = failedAlone ? 'row' : 'plane';
    const attempts = (this.#pause?.attempts ?? 0) + 1;
    const untilMs = clock.monotonicMs() + this.#delayMs(attempts);
    if (!failedAlone) {
      this.#pause = { attempts, untilMs, failure };
      this.#needsInspection = true;
    }
    for (const entry of entries) {
      const ownMs = clock.monotonicMs() + this.#delayMs((entry.failure?.attempts ?? 0) + 1);
      outstanding.reject(entry, { scope, retryAtMs: failedAlone ? ownMs : untilMs, last: failure });
    }
    const about = { ...rowsOf(entries), scope } as const;
    const { services: _, ...counts } = about;
    log.error(
      { ...counts, attempts, code: failure.code },
      `every write to the kernel fails: ${failure.message}`,
    );
    observers.tell((observer) => observer.onStepFailed?.({ ...failure, ...about }));
  }

  #delayMs(attempts: number): number {
    const { intake, random } = this.#context;
    return retryDelayMs(attempts, { mostMs: intake.settings.syncPeriodMs, random });
  }
}

function rowsOf(
  entries: readonly Entry[],
): Pick<StepFailure, 'families' | 'rowCount' | 'services'> {
  const services = new Set(entries.slice(0, ROWS_NAMED).map(({ id }) => serviceOf(id)));
  return { families: familiesOf(entries), rowCount: entries.length, services: [...services] };
}

function culpritOf({ error }: Rejection, units: readonly Unit[]): Unit | undefined {
  if (!(error instanceof PlaneError) || error.culprit === undefined) return undefined;
  return units.find((unit) => unit.some(({ key }) => key === error.culprit));
}
