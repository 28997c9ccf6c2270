import { Heap } from '../forwarding/heap.ts';
import type { Family, ServicePortKey } from '../forwarding/model.ts';
import { FairQueue, type StepLimits } from './fair-queue.ts';
import type { Entry, FailureScope, RowFailure } from './outstanding-entry.ts';

/**
 * About a row: a namespace with thousands of failing rows must not be retried before all others.
 */
const OBJECTS_PER_TURN = 32;

export type FailingRow = RowFailure & { readonly key: ServicePortKey };

interface Backoff {
  readonly entry: Entry;
  /** As it was when the time was set: another one has another time. */
  readonly failure: RowFailure;
}

/** Rows that the kernel rejected at least once, and when each is retried. */
export class Retries {
  /** The one first rejected first. */
  readonly #failed = new Map<ServicePortKey, Entry>();
  readonly #backingOff = new Heap<Backoff>((a, b) => a.failure.retryAtMs < b.failure.retryAtMs);
  readonly #due: Record<FailureScope, FairQueue> = {
    row: new FairQueue(OBJECTS_PER_TURN),
    plane: new FairQueue(OBJECTS_PER_TURN),
  };
  readonly #rowScopeCounts: Record<Family, number> = { IPv4: 0, IPv6: 0 };

  get size(): number {
    return this.#failed.size;
  }

  get(key: ServicePortKey): Entry | undefined {
    return this.#failed.get(key);
  }

  entries(): Iterable<Entry> {
    return this.#failed.values();
  }

  /** Rows that the kernel rejects on their own. */
  rowScopeCount(family: Family): number {
    return this.#rowScopeCounts[family];
  }

  /** It failed, for the first time or again. */
  reject(entry: Entry, failure: RowFailure): void {
    this.#forget(entry);
    entry.failure = failure;
    this.#failed.set(entry.key, entry);
    if (failure.scope === 'row') this.#rowScopeCounts[entry.id.family]++;
    this.#backingOff.push({ entry, failure });
  }

  delete(entry: Entry): void {
    this.#forget(entry);
    this.#failed.delete(entry.key);
  }

  /** The rejected state is not desired now, or the cause of the failure may be gone. */
  hasten(entry: Entry, nowMs: number): void {
    if (entry.failure === undefined) return;
    entry.failure = { ...entry.failure, retryAtMs: nowMs };
    this.#due[entry.failure.scope].add(entry);
  }

  hastenAll(nowMs: number): void {
    for (const entry of this.#failed.values()) this.hasten(entry, nowMs);
  }

  partWritten(entry: Entry, atMs: number): void {
    for (const queue of Object.values(this.#due)) queue.partWritten(entry, atMs);
  }

  /** Those that are due, either on their own or together with everything else. */
  takeDue(scope: FailureScope, nowMs: number, limits: StepLimits): Entry[] {
    for (let next = this.#next(); next; next = this.#next()) {
      const { entry, failure } = next;
      if (failure.retryAtMs > nowMs) break;
      this.#backingOff.pop();
      this.#due[failure.scope].add(entry);
    }
    return this.#due[scope].take(limits);
  }

  /** The time of the next retry. */
  nextAtMs(): number {
    if (this.#due.row.size + this.#due.plane.size > 0) return 0;
    return this.#next()?.failure.retryAtMs ?? Number.POSITIVE_INFINITY;
  }

  /** The ones first rejected. */
  failing(most: number): FailingRow[] {
    return [...this.#failed.values().take(most)].flatMap(({ key, failure }) =>
      failure === undefined ? [] : [{ key, ...failure }],
    );
  }

  #next(): Backoff | undefined {
    for (;;) {
      const next = this.#backingOff.first;
      if (next === undefined || this.#isBackingOff(next)) return next;
      this.#backingOff.pop();
    }
  }

  #isBackingOff({ entry, failure }: Backoff): boolean {
    return entry.failure === failure && this.#failed.get(entry.key) === entry;
  }

  #forget(entry: Entry): void {
    if (this.#failed.get(entry.key) !== entry) return;
    for (const queue of Object.values(this.#due)) queue.delete(entry);
    if (entry.failure?.scope === 'row') this.#rowScopeCounts[entry.id.family]--;
  }
}
