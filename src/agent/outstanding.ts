import { equalForwarding } from '../forwarding/equal.ts';
import {
  type Family,
  type Forwarding,
  type ServicePortKey,
  servicePortKey,
} from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import { type Entry, isRemoval, type Refused, type RowFailure } from './entry.ts';
import { Holders } from './holders.ts';

/**
 * The difference between what is desired and what the kernel has acknowledged. A row without an
 * entry is applied as it is desired, so `applied` is the table of forwarding with these entries
 * laid over it; a copy of fifty thousand rows that say the same is never held.
 */
export class Outstanding {
  /** Never refused by the kernel as they are now, in the order in which they came. */
  readonly #fresh = new Map<ServicePortKey, Entry>();
  /** Refused at least once. Kept apart so that those who never failed need not be told from them. */
  readonly #failed = new Map<ServicePortKey, Entry>();
  readonly #holders = new Holders();
  readonly #counts: Record<Family, number> = { IPv4: 0, IPv6: 0 };

  get size(): number {
    return this.#fresh.size + this.#failed.size;
  }

  get failedCount(): number {
    return this.#failed.size;
  }

  get hasFresh(): boolean {
    return this.#fresh.size > 0;
  }

  /** Without those that the kernel refuses for themselves. */
  waitingCount(family: Family): number {
    let count = this.#counts[family];
    for (const { id, failure } of this.#failed.values()) {
      if (id.family === family && failure?.scope === 'row') count--;
    }
    return count;
  }

  has(key: ServicePortKey): boolean {
    return this.get(key) !== undefined;
  }

  *entries(): Generator<Entry> {
    yield* this.#failed.values();
    yield* this.#fresh.values();
  }

  /** The rows that the kernel refused, the one first refused first. */
  failing(): (RowFailure & { readonly key: ServicePortKey })[] {
    const failing = [...this.#failed.values()].flatMap(({ key, failure }) =>
      failure === undefined ? [] : [{ key, ...failure }],
    );
    return failing.sort((a, b) => a.firstAtMs - b.firstAtMs || (a.key < b.key ? -1 : 1));
  }

  /**
   * Of the rows of this family, since when the longest waiting one waits. One that the kernel
   * refuses for itself does not count: no restart helps it, and to take every node of a cluster
   * out of service for one odd Service would be the larger fault. It is told as what it is.
   */
  oldestSinceMs(family: Family): number | undefined {
    if (this.#counts[family] === 0) return undefined;
    let oldest: number | undefined;
    for (const { id, sinceMs, failure } of this.#failed.values()) {
      if (id.family !== family || failure?.scope === 'row') continue;
      if (sinceMs < (oldest ?? Number.POSITIVE_INFINITY)) oldest = sinceMs;
    }
    // They are in the order in which they came: at a first start tens of thousands, asked every second.
    const fresh = this.#fresh.values().find(({ id }) => id.family === family);
    return fresh !== undefined && fresh.sinceMs < (oldest ?? Number.POSITIVE_INFINITY)
      ? fresh.sinceMs
      : oldest;
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
    const known = this.get(key);
    if (known === undefined) {
      const id = after?.id ?? before?.id;
      if (id === undefined) return;
      this.#put({ key, id, desired: after, applied: before, isCertain: true, sinceMs: nowMs });
      return;
    }
    this.#holders.remove(known);
    known.desired = after;
    if (known.isCertain && equalForwarding(known.applied, after)) {
      this.#drop(known);
      return;
    }
    this.#holders.add(known);
    // What was refused is not what is asked for now.
    if (known.failure !== undefined) known.failure = { ...known.failure, retryAtMs: nowMs };
  }

  /** The kernel has it. */
  acknowledge(entry: Entry): void {
    this.#holders.remove(entry);
    this.#drop(entry);
  }

  /** The kernel refused it. */
  refuse(entry: Entry, refused: Refused): void {
    const { attempts = 0, firstAtMs = refused.last.atMs } = entry.failure ?? {};
    entry.failure = { ...refused, attempts: attempts + 1, firstAtMs };
    this.#fresh.delete(entry.key);
    this.#failed.set(entry.key, entry);
  }

  /** An inspection did not find the row right: what is there of it only the plane knows. */
  distrust(row: Forwarding, nowMs: number): void {
    const key = servicePortKey(row.id);
    const known = this.get(key);
    if (known === undefined) {
      const { id } = row;
      const unknown = { desired: row, applied: undefined, isCertain: false };
      this.#put({ key, id, sinceMs: nowMs, ...unknown });
      return;
    }
    this.#holders.remove(known);
    known.desired = row;
    known.applied = undefined;
    known.isCertain = false;
    this.#holders.add(known);
  }

  get(key: ServicePortKey): Entry | undefined {
    return this.#fresh.get(key) ?? this.#failed.get(key);
  }

  /** Desired rows that the kernel has not got as they are desired. */
  unwrittenCount(): number {
    let count = 0;
    // Not `entries`: whoever looks on while a start writes asks it of fifty thousand, often.
    for (const entry of this.#failed.values()) if (!isRemoval(entry)) count++;
    for (const entry of this.#fresh.values()) if (!isRemoval(entry)) count++;
    return count;
  }

  /** Whatever made rows fail may have been put right. */
  retryAll(nowMs: number): void {
    for (const entry of this.#failed.values()) {
      if (entry.failure !== undefined) entry.failure = { ...entry.failure, retryAtMs: nowMs };
    }
  }

  takeFresh(limit: number): Entry[] {
    return [...this.#fresh.values().take(limit)];
  }

  /** Those refused whose time has come, either for themselves or together with everything else. */
  takeDue(scope: 'row' | 'plane', { nowMs, limit }: { nowMs: number; limit: number }): Entry[] {
    const isDue = ({ failure }: Entry): boolean =>
      failure !== undefined && failure.scope === scope && failure.retryAtMs <= nowMs;
    return [...this.#failed.values().filter(isDue).take(limit)];
  }

  /** When the next refused row should be tried again. */
  nextRetryAtMs(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { failure } of this.#failed.values()) next = Math.min(next, failure?.retryAtMs ?? 0);
    return next;
  }

  #put(entry: Entry): void {
    this.#fresh.set(entry.key, entry);
    this.#holders.add(entry);
    this.#counts[entry.id.family]++;
  }

  #drop(entry: Entry): void {
    this.#counts[entry.id.family]--;
    this.#fresh.delete(entry.key);
    this.#failed.delete(entry.key);
  }
}
