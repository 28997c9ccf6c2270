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
import { type Entry, type FailureScope, isRemoval, type Parts, type Refused } from './entry.ts';
import { FairQueue, type Lane, type StepLimits } from './fair-queue.ts';
import { Holders } from './holders.ts';
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
 * The difference between what is desired and what the kernel has acknowledged. A row without an
 * entry is applied as it is desired, so `applied` is the table of forwarding with these entries
 * laid over it; a copy of fifty thousand rows that say the same is never held.
 */
export class Outstanding {
  /** Never rejected by the kernel as they are now. */
  readonly #fresh = new FairQueue(OBJECTS_PER_TURN);
  /** Rejected at least once. Kept apart, so that rows that never failed are found without a search. */
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

  /** Without rows that the kernel rejects by themselves. */
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
   * Of the rows of this family, since when the longest waiting one waits. One that the kernel
   * rejects by itself does not count: no restart helps it, and to take every node of a cluster
   * out of service for one odd Service would be the larger fault. It is told as what it is.
   *
   * A row that is written in parts, and those of its namespace that wait for their turn behind it,
   * count from the last part that the kernel took: while parts are taken a restart would only
   * delay them, and when none is taken any more they grow old like all others.
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

  /** The cluster changed. A change that undoes what the kernel has not got yet leaves nothing to do. */
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
    // What was rejected is not what is desired now.
    else this.#retries.hasten(known, nowMs);
  }

  /** The kernel has it. */
  acknowledge(entry: Entry): void {
    this.#holders.remove(entry);
    this.#drop(entry);
  }

  /** The kernel rejected it. */
  refuse(entry: Entry, refused: Refused): void {
    const { attempts = 0, firstAtMs = refused.last.atMs } = entry.failure ?? {};
    this.#fresh.delete(entry);
    this.#retries.refuse(entry, { ...refused, attempts: attempts + 1, firstAtMs });
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

  /** The kernel has one more part of it; its namespace waits for its next turn. */
  partWritten(entry: Entry): void {
    if (entry.parts === undefined) return;
    const atMs = this.#monotonicMs();
    entry.parts.writtenCount++;
    entry.parts.lastAtMs = atMs;
    this.#fresh.partWritten(entry, atMs);
    this.#retries.partWritten(entry, atMs);
  }

  /** The kernel has this of the row now. Gives whether it is what is desired. */
  written(entry: Entry, applied: Forwarding | undefined, nowMs: number): boolean {
    this.acknowledge(entry);
    const { key, id, desired } = entry;
    if (equalForwarding(applied, desired)) return true;
    this.#put({ key, id, desired, applied: applied ?? 'absent', sinceMs: nowMs });
    return false;
  }

  /**
   * The kernel may have a part of the row, as it was before or as `attempted`: `unknown` from now on.
   * Parts that were being written are begun anew.
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
   * An inspection did not find the row right: it is `unknown` from now on.
   * `leftovers`: rows of which the kernel may have a part.
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

  /** Rejected rows that are due for a retry: rejected by themselves, or together with all others. */
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

/** The newest: what an older attempt left a newer one has mostly replaced. */
const MOST_LEFTOVERS = 4;

function leftoversOf(
  { applied, leftovers = [] }: Entry,
  attempted: Forwarding | undefined,
): readonly Forwarding[] {
  const all = [attempted, knownRow(applied), ...leftovers].filter((row) => row !== undefined);
  return [...new Set(all)].slice(0, MOST_LEFTOVERS);
}
