import { setImmediate as nextTurn } from 'node:timers/promises';
import { FAMILIES, type Family } from '../forwarding/model.ts';
import { Configuring } from './configuring.ts';
import type { Context } from './context.ts';
import type { Failure } from './failure.ts';
import type { StepLimits } from './fair-queue.ts';
import { HealthChecks } from './health-checks.ts';
import { InspectionPlan, type WantedInspection } from './inspection-plan.ts';
import { Inspector } from './inspector.ts';
import { NoLocalCounts } from './no-local.ts';
import { type Entry, serviceOf } from './outstanding-entry.ts';
import type { RowCounts } from './snapshot.ts';
import { Writer } from './writer.ts';

/** Small enough to block neither the kernel nor the event loop, large enough to be fast. */
const ROWS_PER_STEP = 128;

/** So many objects are compiled between two steps: about a few milliseconds of the event loop. */
const OBJECTS_PER_COMPILE = 4000;

/**
 * Chooses the next step towards the desired state. One step at a time: the calls of a plane never
 * overlap. A call that hangs is not abandoned, because its later effects are unknown; changes
 * pending behind it age, and the health endpoints report it.
 */
export class Reconciler {
  readonly plan: InspectionPlan;
  readonly inspector: Inspector;
  readonly healthChecks: HealthChecks;
  readonly noLocal = new NoLocalCounts();
  readonly #context: Context;
  readonly #writer: Writer;
  readonly #configuring: Configuring;
  #state: 'closed' | 'opening' | 'open' = 'closed';
  #inspecting: WantedInspection | undefined;
  #untakenSinceMs: number | undefined;
  #desiredCount = 0;
  #firstSyncAtMs: number | undefined;
  readonly #lastSyncedAtMs: Partial<Record<Family, number>> = {};

  constructor(context: Context, readBackMs: number) {
    const { intake, outstanding, observers } = context;
    this.#context = context;
    this.plan = new InspectionPlan(context.random);
    this.inspector = new Inspector(context, this.plan, readBackMs);
    this.#writer = new Writer(context);
    this.#configuring = new Configuring(context);
    this.healthChecks = new HealthChecks({
      table: intake.table,
      isOutstanding: (key) => outstanding.has(key),
      onChange: (service, check) => observers.tell((o) => o.onHealthCheck?.(service, check)),
    });
  }

  /** Every input is complete: from now on the kernel may be written to. */
  open(): void {
    if (this.#state !== 'closed') return;
    this.#state = 'opening';
    this.#context.propagations.forgetArrivals();
    this.plan.wantEverything('start', this.#context.clock.monotonicMs());
  }

  get isOpen(): boolean {
    return this.#state !== 'closed';
  }

  /** Something may have changed that is not compiled yet. */
  noteUntaken(): void {
    if (this.isOpen) this.#untakenSinceMs ??= this.#context.clock.monotonicMs();
  }

  get firstSyncAtMs(): number | undefined {
    return this.#firstSyncAtMs;
  }

  get lastSyncedAtMs(): Readonly<Partial<Record<Family, number>>> {
    return this.#lastSyncedAtMs;
  }

  rowCounts(): RowCounts {
    const { outstanding } = this.#context;
    const unwritten = this.#state === 'open' ? outstanding.unwrittenCount() : this.#desiredCount;
    const applied = this.#desiredCount - unwritten;
    return { desired: this.#desiredCount, applied, pending: outstanding.size };
  }

  /** The current obstacle. */
  get failure(): Failure | undefined {
    const ofPlane = this.inspector.failure ?? this.#writer.pause?.failure;
    return ofPlane ?? this.#configuring.failure ?? this.#context.outstanding.failing(1)[0]?.last;
  }

  /** Since when the kernel has not been as it should in this family; undefined: it is. */
  pendingSinceMs(family: Family): number | undefined {
    const { outstanding } = this.#context;
    const times = [
      outstanding.oldestSinceMs(family),
      this.plan.wanted?.sinceMs,
      this.#inspecting?.sinceMs,
      this.#configuring.pendingSinceMs,
      this.#untakenSinceMs,
    ].filter((time) => time !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** When `advance` has something to do again, if no event comes. */
  nextAtMs(): number {
    if (this.#state === 'closed') return Number.POSITIVE_INFINITY;
    const { outstanding } = this.#context;
    const inspectAtMs = this.plan.nextAtMs(this.#isIdle);
    if (this.#state === 'opening') return inspectAtMs;
    if (this.#hasUntaken) return 0;
    const rowsAtMs = outstanding.hasFresh ? 0 : outstanding.nextRetryAtMs();
    const writeAtMs = Math.max(rowsAtMs, this.#writer.pause?.untilMs ?? 0);
    return Math.min(inspectAtMs, this.#configuring.nextAtMs(), writeAtMs);
  }

  /** Does the next thing, if it is time for one. */
  async advance(signal: AbortSignal): Promise<void> {
    if (this.#state === 'closed') return;
    const { clock } = this.#context;
    this.#takeChanges(OBJECTS_PER_COMPILE);
    const wanted = this.plan.take(clock.monotonicMs(), this.#isIdle);
    if (wanted !== undefined) await this.#inspect(wanted, signal);
    else if (this.#state === 'opening') return;
    else if (this.#configuring.nextAtMs() <= clock.monotonicMs())
      await this.#configuring.configure();
    else if ((this.#writer.pause?.untilMs ?? 0) <= clock.monotonicMs()) await this.#write(signal);
    if (this.#state === 'open') this.#noteProgress();
  }

  /** No row is pending except failed ones: a periodic inspection delays nothing. */
  get #isIdle(): boolean {
    return !this.#context.outstanding.hasFresh && !this.#hasUntaken;
  }

  get #hasUntaken(): boolean {
    return this.#context.intake.table.hasChanges;
  }

  async #inspect(wanted: WantedInspection, signal: AbortSignal): Promise<void> {
    this.#inspecting = wanted;
    await this.#takeAll(signal);
    const facts = signal.aborted ? undefined : await this.inspector.inspect(wanted);
    this.#inspecting = undefined;
    if (facts === undefined) return;
    this.#state = 'open';
    this.#configuring.configured(facts);
    this.#writer.resume();
  }

  /**
   * An inspection compares the kernel with every row as it is now. At a start that is the whole
   * cluster: between two parts of it health checks are answered.
   */
  async #takeAll(signal: AbortSignal): Promise<void> {
    while (this.#hasUntaken && !signal.aborted) {
      this.#takeChanges(OBJECTS_PER_COMPILE);
      if (this.#hasUntaken) await nextTurn();
    }
  }

  /**
   * The table's changes become differences. Only some of them at a time: a namespace that has much
   * to compile would otherwise keep all others from being written.
   */
  #takeChanges(most: number): void {
    const { intake, outstanding, propagations, observers, clock } = this.#context;
    const changes = intake.table.takeChanges(most);
    const sinceMs = this.#untakenSinceMs ?? clock.monotonicMs();
    // The rest counts from now: the next steps compile it, alternating between namespaces, and only
    // if they do not run the kernel falls behind.
    this.#untakenSinceMs = this.#hasUntaken ? clock.monotonicMs() : undefined;
    for (const change of changes) {
      this.#desiredCount +=
        Number(change.after !== undefined) - Number(change.before !== undefined);
      this.noLocal.change(change);
      const id = (change.after ?? change.before)?.id;
      if (id !== undefined) this.healthChecks.serviceTaken(serviceOf(id));
      // The first inspection finds for every row whether it must be written.
      if (this.#state === 'open') outstanding.change(change, sinceMs);
    }
    if (!this.#hasUntaken) this.healthChecks.allTaken();
    const taking = { nowMs: clock.monotonicMs(), isAll: !this.#hasUntaken };
    const unneeded = [
      ...propagations.resolved(changes, taking),
      ...propagations.withdrawn(changes, (key) => outstanding.has(key)),
    ];
    // Before the first inspection it is not known what the kernel needs.
    if (unneeded.length > 0 && this.#state === 'open') {
      observers.tell((observer) => observer.onUnneeded?.(unneeded));
    }
  }

  /** One batch of each sort, so that none keeps another waiting. */
  async #write(signal: AbortSignal): Promise<void> {
    const { outstanding, clock, intake } = this.#context;
    const limits = this.#limits;
    const sorts: [() => Entry[], boolean][] = [
      [() => outstanding.takeFresh(limits), false],
      [() => this.#due('plane'), false],
      [() => this.#due('row'), true],
    ];
    for (const [take, failedAlone] of sorts) {
      if (signal.aborted || (this.#writer.pause?.untilMs ?? 0) > clock.monotonicMs()) break;
      const entries = take();
      if (entries.length > 0) await this.#writer.write(entries, { failedAlone, limits, signal });
    }
    if (this.#writer.takeNeedsInspection()) {
      this.plan.wantAfterFailures(clock.monotonicMs(), intake.settings.syncPeriodMs);
    }
  }

  #due(scope: 'row' | 'plane'): Entry[] {
    const { outstanding, clock } = this.#context;
    return outstanding.takeDue(scope, { nowMs: clock.monotonicMs(), limits: this.#limits });
  }

  get #limits(): StepLimits {
    const { rowsPerStep, objectsPerStep } = this.#context.plane;
    const objects = objectsPerStep ?? Number.POSITIVE_INFINITY;
    return { rows: rowsPerStep ?? ROWS_PER_STEP, objects };
  }

  #noteProgress(): void {
    const { clock, observers } = this.#context;
    this.healthChecks.refresh();
    const settled = FAMILIES.filter((family) => this.#isSettled(family));
    for (const family of settled) this.#lastSyncedAtMs[family] = clock.monotonicMs();
    if (settled.length < FAMILIES.length || this.#firstSyncAtMs !== undefined) return;
    this.#firstSyncAtMs = clock.monotonicMs();
    observers.tell((observer) => observer.onFirstSync?.());
  }

  #isSettled(family: Family): boolean {
    const { outstanding } = this.#context;
    const isInspected = this.plan.wanted === undefined;
    return (
      isInspected &&
      !this.#hasUntaken &&
      outstanding.waitingCount(family) === 0 &&
      this.#configuring.pendingSinceMs === undefined
    );
  }
}
