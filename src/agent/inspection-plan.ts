import type { InspectionDepth } from '../dataplanes/contract.ts';
import { type Random, retryDelayMs } from '../time/retry-delay.ts';
import type { InspectionReason } from './observer.ts';

/** A burst of reports is collected for this long before the kernel is inspected. */
const GATHER_MS = 20;

export interface WantedInspection {
  readonly depth: InspectionDepth;
  readonly reason: InspectionReason;
  readonly sinceMs: number;
  readonly notBeforeMs: number;
}

/** When the kernel is inspected next, and at which depth. */
export class InspectionPlan {
  readonly #random: Random;
  #wanted: WantedInspection | undefined;
  #routineAtMs = Number.POSITIVE_INFINITY;
  #everythingAtMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = 0;
  #failures = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get wanted(): WantedInspection | undefined {
    return this.#wanted;
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** Another process changed our kernel objects. */
  wantAfterDrift(nowMs: number): void {
    const notBeforeMs = Math.max(nowMs + GATHER_MS, this.#restUntilMs);
    this.#want({ depth: 'reported', reason: 'drift', sinceMs: nowMs, notBeforeMs });
  }

  wantEverything(reason: InspectionReason, nowMs: number): void {
    this.#want({ depth: 'everything', reason, sinceMs: nowMs, notBeforeMs: nowMs });
  }

  /** Rows fail repeatedly: the kernel may differ from what is assumed. Not more often than given. */
  wantAfterFailures(nowMs: number, atMostEveryMs: number): void {
    if (nowMs - this.#everythingAtMs >= atMostEveryMs) this.wantEverything('failures', nowMs);
  }

  /** A wanted inspection keeps its time, also when the periodic one is due: it may be a retry. */
  nextAtMs(isIdle: boolean): number {
    if (this.#wanted !== undefined) return this.#wanted.notBeforeMs;
    return isIdle ? this.#routineAtMs : Number.POSITIVE_INFINITY;
  }

  /** The one to make now, if it is time; it is no longer wanted then. */
  take(nowMs: number, isIdle: boolean): WantedInspection | undefined {
    if (this.nextAtMs(isIdle) > nowMs) return undefined;
    const routine = { depth: 'everything', reason: 'routine', sinceMs: nowMs } as const;
    const taken = this.#wanted ?? { ...routine, notBeforeMs: nowMs };
    this.#wanted = undefined;
    return taken;
  }

  done(
    depth: InspectionDepth,
    times: { startedAtMs: number; nowMs: number; routineMs: number },
  ): void {
    const { startedAtMs, nowMs, routineMs } = times;
    this.#failures = 0;
    // Constant drift must not lead to constant inspections.
    this.#restUntilMs = nowMs + (nowMs - startedAtMs);
    if (depth === 'reported') return;
    this.#everythingAtMs = nowMs;
    this.#routineAtMs = nowMs + routineMs * (0.9 + this.#random() / 5);
  }

  /** It is not known what the failed one has left behind, so the next inspects everything. */
  failed(taken: WantedInspection, { nowMs, mostMs }: { nowMs: number; mostMs: number }): void {
    this.#failures++;
    const delayMs = retryDelayMs(this.#failures, { mostMs, random: this.#random });
    const { reason, sinceMs } = taken;
    this.#wanted = { depth: 'everything', reason, sinceMs, notBeforeMs: nowMs + delayMs };
  }

  #want(also: WantedInspection): void {
    const before = this.#wanted;
    if (before === undefined) this.#wanted = also;
    // While inspections fail, the pace of the retries holds.
    else if (before.depth === 'reported' && also.depth === 'everything') {
      this.#wanted = { ...also, sinceMs: before.sinceMs };
    }
  }
}
