import { isApplied, knownRow } from '../dataplanes/row-change.ts';
import { equalForwarding } from '../forwarding/equal.ts';
import {
  type Family,
  type Forwarding,
  type ServicePortId,
  type ServicePortKey,
  servicePortKey,
} from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import { FairQueue, type Lane, type StepLimits } from './fair-queue.ts';
import { Holders } from './holders.ts';
import {
  type Entry,
  type FailureScope,
  isRemoval,
  type Parts,
  type Rejected,
} from './outstanding-entry.ts';
import { type FailingRow, Retries } from './retries.ts';

/** An eighth of a transaction of the nftables plane: at least so many namespaces have a part of it. */
const OBJECTS_PER_TURN = 256;

type Difference = Omit<Entry, 'queuedAtMs'>;

interface OutstandingOptions {
  readonly monotonicMs?: () => number;
  /** The kernel has a row as it is desired. */
  readonly onSettled?: (id: ServicePortId) => void;
}

interface Distrust {
  readonly nowMs: number;
  readonly leftovers?: readonly Forwarding[];
}

/**
 * The difference between the desired state and what the kernel has acknowledged. A row without an
 * entry is applied as desired, so `applied` is the forwarding table with these entries laid over
 * it; fifty thousand equal rows are never copied.
 */
export class Outstanding {
  /** Not rejected by the kernel in their current state. */
  readonly #fresh = new FairQueue(OBJECTS_PER_TURN);
  /**
   * Rejected at least once. Kept separately, so that rows that never failed are found without a
   * search.
   */
  readonly #retries = new Retries();
  readonly #inParts = new Set<Entry>();
  readonly #holders = new Holders();
  readonly #counts: Record<Family, number> = { IPv4: 0, IPv6: 0 };
  readonly #monotonicMs: () => number;
  readonly #onSettled: (id: ServicePortId) => void;
  #removalCount = 0;

  constructor({ monotonicMs, onSettled }: OutstandingOptions = {}) {
    this.#monotonicMs = monotonicMs ?? (() => performance.now());
    this.#onSettled = onSettled ?? (() => undefined);
  }

  get size(): number {
    return this.#fresh.size + this.#retries.size;
  }

  get failedCount(): number {
    return this.#retries.size;
  }

  get hasFresh(): boolean {
    return this.#fresh.size > 0;
  }

  /** Without rows that the kernel rejects on their own. */
  waitingCount(family: Family): number {
    return this.#counts[family] - this.#retries.rowScopeCount(family);
  }

  has(key: ServicePortKey): boolean {
    return this.get(key) !== undefined;
  }

  *entries(): Generator<Entry> {
    yield* this.#retries.entries();
    yield* this.#fresh.rows();
  }

  /** The rows that the kernel rejected, the one first rejected first. */
  failing(most: number): FailingRow[] {
    return this.#retries.failing(most);
  }

  /** Rows that are being written in parts, the one first begun first. */
  get inParts(): ReadonlySet<Entry> {
    return this.#inParts;
  }

  /** Rows that were never rejected, by namespace. */
  lanes(): Iterable<readonly [string, Lane]> {
    return this.#fresh.lanes();
  }

  /**
   * Since when the longest pending row of this family is pending. A row that the kernel rejects on
   * its own does not count: a restart does not help it, and taking every node of a cluster out of
   * service for one odd Service would be worse. It is reported as a rejection. A row that is
   * written in parts, and the rows of its namespace queued behind it, count from the last part that
   * the kernel accepted: while parts are accepted a restart would only delay them, and otherwise
   * they age like all others.
   */
  oldestSinceMs(family: Family): number | undefined {
    if (this.#counts[family] === 0) return undefined;
    let oldest = Number.POSITIVE_INFINITY;
    for (const { id, sinceMs, failure } of this.#retries.entries()) {
      if (id.family === family && failure?.scope !== 'row') oldest = Math.min(oldest, sinceMs);
    }
    for (const { id, failure, parts } of this.#inParts) {
      if (id.family !== family || failure !== undefined) continue;
      oldest = Math.min(oldest, parts?.lastAtMs ?? Number.NEGATIVE_INFINITY);
    }
    for (const [, { rows, lastPartAtMs }] of this.#fresh.lanes()) {
      // They are in the order in which they came: at a first start tens of thousands, asked every second.
      const first = rows.values().find(({ id, parts }) => id.family === family && !parts);
      if (first === undefined) continue;
      oldest = Math.min(oldest, Math.max(first.sinceMs, lastPartAtMs ?? Number.NEGATIVE_INFINITY));
    }
    return oldest === Number.POSITIVE_INFINITY ? undefined : oldest;
  }

  /** The Service that now holds in the kernel what another wants, and is about to give it up. */
  holderOf(claim: string): Entry | undefined {
    return this.#holders.get(claim);
  }

  /** Whether any row has something in the kernel that it is about to give up. */
  get hasHolders(): boolean {
    return !this.#holders.isEmpty;
  }

  /** The cluster changed. A change back to what the kernel has leaves nothing to do. */
  change({ key, before, after }: Change, nowMs: number): void {
    const id = after?.id ?? before?.id;
    const known = this.get(key, id?.namespace);
    if (known === undefined) {
      if (id === undefined) return;
      this.#put({ key, id, desired: after, applied: before ?? 'absent', sinceMs: nowMs });
      return;
    }
    this.#desire(known, () => {
      known.desired = after;
    });
    // A row that is being written in parts is neither the old nor the new one until the last part.
    if (known.parts === undefined && isApplied(known.applied, after)) this.acknowledge(known);
    // The rejected state is not the desired one any longer.
    else this.#retries.hasten(known, nowMs);
  }

  /** The kernel has it. */
  acknowledge(entry: Entry): void {
    this.#holders.remove(entry);
    this.#drop(entry);
  }

  /** The kernel rejected it. */
  reject(entry: Entry, rejected: Rejected): void {
    const { attempts = 0, firstAtMs = rejected.last.atMs } = entry.failure ?? {};
    this.#fresh.delete(entry);
    this.#retries.reject(entry, { ...rejected, attempts: attempts + 1, firstAtMs });
  }

  /** The change is too large for one transaction: it is written in parts from now on. */
  beginParts(entry: Entry, begun: Pick<Parts, 'change' | 'objectCount'>): void {
    const { change, objectCount } = begun;
    const lastAtMs = this.#monotonicMs();
    this.#desire(entry, () => {
      entry.parts = { change, objectCount, writtenCount: 0, begunAtMs: lastAtMs, lastAtMs };
    });
    this.#inParts.add(entry);
  }

  /** The kernel has one more part of it; its namespace waits for its next round. */
  partWritten(entry: Entry): void {
    if (entry.parts === undefined) return;
    const atMs = this.#monotonicMs();
    entry.parts.writtenCount++;
    entry.parts.lastAtMs = atMs;
    this.#fresh.partWritten(entry, atMs);
    this.#retries.partWritten(entry, atMs);
  }

  /** The kernel has this of the row now. Returns whether it is the desired state. */
  written(entry: Entry, applied: Forwarding | undefined, nowMs: number): boolean {
    this.acknowledge(entry);
    const { key, id, desired } = entry;
    if (equalForwarding(applied, desired)) return true;
    this.#put({ key, id, desired, applied: applied ?? 'absent', sinceMs: nowMs });
    return false;
  }

  /**
   * The kernel may have a part of the row, as it was before or as `attempted`: `unknown` from now
   * on. Writing it in parts starts again.
   */
  doubt(entry: Entry, attempted = entry.parts?.change.after): void {
    this.#desire(entry, () => {
      entry.leftovers = leftoversOf(entry, attempted);
      entry.applied = 'unknown';
      delete entry.parts;
    });
    this.#inParts.delete(entry);
  }

  /**
   * An inspection did not find the row right: it is `unknown` from now on. `leftovers`: rows that
   * the kernel may have in part.
   */
  distrust(row: Forwarding, { nowMs, leftovers = [] }: Distrust): void {
    const { id } = row;
    const key = servicePortKey(id);
    const known = this.get(key, id.namespace);
    if (known === undefined) {
      const unknown = { desired: row, applied: 'unknown' } as const;
      const more = leftovers.length === 0 ? unknown : { ...unknown, leftovers };
      this.#put({ key, id, sinceMs: nowMs, ...more });
      return;
    }
    this.#desire(known, () => {
      known.desired = row;
      known.leftovers = [...leftovers, ...(known.leftovers ?? [])];
    });
    this.doubt(known);
  }

  get(key: ServicePortKey, namespace?: string): Entry | undefined {
    return this.#fresh.get(key, namespace) ?? this.#retries.get(key);
  }

  /** Desired rows that the kernel has not got as they are desired. */
  unwrittenCount(): number {
    return this.size - this.#removalCount;
  }

  /** The cause of the failures may be gone. */
  retryAll(nowMs: number): void {
    this.#retries.hastenAll(nowMs);
  }

  takeFresh(limits: StepLimits): Entry[] {
    return this.#fresh.take(limits);
  }

  /** Rejected rows that are due for a retry: rejected on their own, or together with all others. */
  takeDue(scope: FailureScope, { nowMs, limits }: { nowMs: number; limits: StepLimits }): Entry[] {
    return this.#retries.takeDue(scope, nowMs, limits);
  }

  /** When the next rejected row is due for a retry. */
  nextRetryAtMs(): number {
    return this.#retries.nextAtMs();
  }

  /** Keeps counts and holders up to date while an entry changes. */
  #desire(entry: Entry, change: () => void): void {
    this.#holders.remove(entry);
    if (isRemoval(entry)) this.#removalCount--;
    change();
    if (isRemoval(entry)) this.#removalCount++;
    this.#holders.add(entry);
  }

  #put(difference: Difference): void {
    const entry = { ...difference, queuedAtMs: this.#monotonicMs() };
    this.#fresh.add(entry);
    this.#holders.add(entry);
    this.#counts[entry.id.family]++;
    if (isRemoval(entry)) this.#removalCount++;
  }

  #drop(entry: Entry): void {
    this.#counts[entry.id.family]--;
    if (isRemoval(entry)) this.#removalCount--;
    this.#fresh.delete(entry);
    this.#retries.delete(entry);
    this.#inParts.delete(entry);
    this.#onSettled(entry.id);
  }
}

/** The newest: a newer attempt has mostly replaced what an older one left. */
const MOST_LEFTOVERS = 4;

function leftoversOf(
  { applied, leftovers = [] }: Entry,
  attempted: Forwarding | undefined,
): readonly Forwarding[] {
  const all = [attempted, knownRow(applied), ...leftovers].filter((row) => row !== undefined);
  return [...new Set(all)].slice(0, MOST_LEFTOVERS);
}
