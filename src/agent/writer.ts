import { setImmediate as turn } from 'node:timers/promises';
import { PlaneError } from '../dataplanes/contract.ts';
import type { Context } from './context.ts';
import { changeOf, type Entry, familiesOf } from './entry.ts';
import { type Failure, failureOf } from './failure.ts';
import { retryDelayMs } from './retry.ts';
import { splitUntilDone } from './split.ts';
import { type Unit, unitsOf } from './units.ts';

interface Refusal {
  readonly error: unknown;
  readonly failure: Failure;
}

/** Everything fails: the plane is left alone for a while. */
export interface Pause {
  readonly attempts: number;
  readonly untilMs: number;
  readonly failure: Failure;
}

interface Tally {
  transactionCount: number;
  acknowledgedCount: number;
}

/** Of a plane that took everything last time more is tried than of one that took nothing. */
const PATIENCE = 16;
const PATIENCE_WHILE_ALL_FAILS = 4;

/** A row that was refused so often may be refused because the kernel is not as we think. */
const ATTEMPTS_BEFORE_A_LOOK = 3;

/** Brings rows into the kernel, and finds those that it does not take. */
export class Writer {
  readonly #context: Context;
  #pause: Pause | undefined;
  #needsLook = false;

  constructor(context: Context) {
    this.#context = context;
  }

  get pause(): Pause | undefined {
    return this.#pause;
  }

  /** Whether failures since this was last asked make it doubtful that the kernel is as we think. */
  takeNeedsLook(): boolean {
    const needsLook = this.#needsLook;
    this.#needsLook = false;
    return needsLook;
  }

  /** What made everything fail may have been put right. */
  resume(): void {
    this.#pause = undefined;
    this.#context.outstanding.retryAll(this.#context.clock.nowMs());
  }

  /** `suspects`: each has failed for itself before, so that all fail says nothing about the plane. */
  async write(
    entries: readonly Entry[],
    { suspects, signal }: { suspects: boolean; signal: AbortSignal },
  ): Promise<void> {
    const { clock, monotonicMs, outstanding, observers } = this.#context;
    const startedAtMs = clock.nowMs();
    const begunMs = monotonicMs();
    const tally: Tally = { transactionCount: 0, acknowledgedCount: 0 };
    const units = outstanding.hasHolders
      ? unitsOf(entries, (claim) => outstanding.holderOf(claim))
      : entries.map((entry) => [entry]);
    const total = await splitUntilDone(units, {
      attempt: (part) => this.#attempt(part.flat(), tally),
      culpritOf,
      refuse: (unit, refusal) => this.#refuse(unit, refusal),
      patience: this.#pause === undefined ? PATIENCE : PATIENCE_WHILE_ALL_FAILS,
      signal,
    });
    if (total !== undefined) this.#refuseRest(total.rest.flat(), total.refusal, suspects);
    const durationMs = monotonicMs() - begunMs;
    const families = familiesOf(entries);
    const pendingCount = outstanding.size;
    const report = { ...tally, startedAtMs, durationMs, families, pendingCount };
    observers.tell((observer) => observer.onStep?.(report));
  }

  async #attempt(entries: readonly Entry[], tally: Tally): Promise<Refusal | undefined> {
    const { plane, clock, monotonicMs, outstanding, propagations, observers } = this.#context;
    if (tally.transactionCount > 0) await turn();
    tally.transactionCount++;
    const changes = entries.map(changeOf);
    const begunMs = monotonicMs();
    try {
      await plane.apply(changes);
    } catch (error) {
      return { error, failure: failureOf(error, clock.nowMs()) };
    }
    const nowMs = monotonicMs();
    const atMs = clock.nowMs();
    for (const entry of entries) outstanding.acknowledge(entry);
    tally.acknowledgedCount += entries.length;
    if (this.#pause !== undefined) this.resume();
    const ended = propagations.acknowledged(entries, { monotonicMs: nowMs, wallMs: atMs });
    const acknowledged = { changes, atMs, durationMs: nowMs - begunMs, propagations: ended };
    observers.tell((observer) => observer.onAcknowledged?.(acknowledged));
    return undefined;
  }

  #refuse(unit: Unit, { failure }: Refusal): void {
    const { outstanding, observers, clock, log } = this.#context;
    for (const entry of unit) {
      const attempts = (entry.failure?.attempts ?? 0) + 1;
      const retryAtMs = clock.nowMs() + this.#delayMs(attempts);
      if (attempts === ATTEMPTS_BEFORE_A_LOOK) this.#needsLook = true;
      outstanding.refuse(entry, { scope: 'row', retryAtMs, last: failure });
      const { key } = entry;
      log.warn({ row: key, attempts, code: failure.code }, `not written: ${failure.message}`);
    }
    const about = { families: familiesOf(unit), rowCount: unit.length, scope: 'row' } as const;
    observers.tell((observer) => observer.onStepFailed?.({ ...failure, ...about }));
  }

  #refuseRest(entries: readonly Entry[], { failure }: Refusal, suspects: boolean): void {
    const { outstanding, observers, clock, log } = this.#context;
    const scope = suspects ? 'row' : 'plane';
    const attempts = (this.#pause?.attempts ?? 0) + 1;
    const untilMs = clock.nowMs() + this.#delayMs(attempts);
    if (!suspects) {
      this.#pause = { attempts, untilMs, failure };
      this.#needsLook = true;
    }
    for (const entry of entries) {
      const ownMs = clock.nowMs() + this.#delayMs((entry.failure?.attempts ?? 0) + 1);
      outstanding.refuse(entry, { scope, retryAtMs: suspects ? ownMs : untilMs, last: failure });
    }
    const about = { families: familiesOf(entries), rowCount: entries.length, scope } as const;
    log.error({ ...about, attempts, code: failure.code }, `nothing is taken: ${failure.message}`);
    observers.tell((observer) => observer.onStepFailed?.({ ...failure, ...about }));
  }

  #delayMs(attempts: number): number {
    const { intake, random } = this.#context;
    return retryDelayMs(attempts, { mostMs: intake.settings.syncPeriodMs, random });
  }
}

function culpritOf({ error }: Refusal, units: readonly Unit[]): Unit | undefined {
  if (!(error instanceof PlaneError) || error.culprit === undefined) return undefined;
  return units.find((unit) => unit.some(({ key }) => key === error.culprit));
}
