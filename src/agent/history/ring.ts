import type { HistoryEntry } from './history-entry.ts';

export interface RingLimits {
  readonly entries: number;
  readonly bytes: number;
}

interface ServiceShare {
  /** `namespace/name`: all entries refer to the same text. */
  readonly name: string;
  readonly entries: HistoryEntry[];
  weight: number;
  /** Up to when entries of it may be missing. */
  droppedUpToMs: number;
}

interface NamespaceShare {
  readonly services: Map<string, ServiceShare>;
  readonly classes: WeightClasses;
  weight: number;
  /** Of Services without entries. */
  droppedUpToMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * The last entries, bounded in number and bytes. When it is full, the Service with the most in the
 * namespace with the most loses its oldest entry: one that changes all the time, and a namespace
 * with ten thousand Services, push out their own history and not that of others.
 */
export class HistoryRing {
  readonly #limits: RingLimits;
  /** In the order of `seq`. */
  readonly #bySeq = new Map<number, HistoryEntry>();
  readonly #namespaces = new Map<string, NamespaceShare>();
  readonly #classes = new WeightClasses();
  #weight = 0;
  #droppedCount = 0;
  /** Of all entries. */
  #droppedUpToMs = NEVER;
  /** Of namespaces without entries. */
  #forgottenUpToMs = NEVER;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#bySeq.size;
  }

  /** Bytes, estimated. */
  get weight(): number {
    return this.#weight;
  }

  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** The oldest first. */
  all(): Iterable<HistoryEntry> {
    return this.#bySeq.values();
  }

  /** Of one Service; of the whole node if the name is empty. */
  of(service: string): readonly HistoryEntry[] {
    return this.#share(service)?.entries ?? [];
  }

  /** Up to this time entries may be missing; of a Service only its own. */
  droppedUpToMs(service?: string): number {
    if (service === undefined) return this.#droppedUpToMs;
    const namespace = this.#namespaces.get(namespaceOf(service));
    if (namespace === undefined) return this.#forgottenUpToMs;
    const own = namespace.services.get(service)?.droppedUpToMs ?? NEVER;
    return Math.max(own, namespace.droppedUpToMs, this.#forgottenUpToMs);
  }

  push(entry: HistoryEntry): void {
    this.#bySeq.set(entry.seq, entry);
    const namespace = this.#namespaceFor(namespaceOf(entry.service));
    let share = namespace.services.get(entry.service);
    if (share === undefined) {
      share = { name: entry.service, entries: [], weight: 0, droppedUpToMs: NEVER };
      namespace.services.set(entry.service, share);
    }
    entry.service = share.name;
    share.entries.push(entry);
    this.#weigh(entry.service, entry.weight);
    this.#limit(entry);
  }

  /** An entry that is in the ring has become larger. */
  grew(entry: HistoryEntry, byBytes: number): void {
    entry.weight += byBytes;
    this.#weigh(entry.service, byBytes);
    this.#limit(entry);
  }

  #limit(newest: HistoryEntry): void {
    const { entries, bytes } = this.#limits;
    while (this.#bySeq.size > entries || (this.#weight > bytes && this.#bySeq.size > 1)) {
      this.#drop(this.#victim(newest));
    }
  }

  #victim(newest: HistoryEntry): HistoryEntry {
    const namespace = this.#namespaces.get(this.#classes.heaviest() ?? '');
    const service = namespace?.classes.heaviest();
    const [oldest] = namespace?.services.get(service ?? '')?.entries ?? [];
    if (oldest !== undefined && oldest !== newest) return oldest;
    // A single large entry must not push itself out.
    for (const entry of this.#bySeq.values()) if (entry !== newest) return entry;
    return newest;
  }

  #drop(entry: HistoryEntry): void {
    const { service, seq, atMs, weight } = entry;
    this.#bySeq.delete(seq);
    this.#droppedCount++;
    this.#droppedUpToMs = Math.max(this.#droppedUpToMs, atMs);
    const namespace = this.#namespaces.get(namespaceOf(service));
    const share = namespace?.services.get(service);
    if (namespace === undefined || share === undefined) return;
    // The oldest, except where the only other one is the newest.
    share.entries.splice(share.entries.indexOf(entry), 1);
    share.droppedUpToMs = Math.max(share.droppedUpToMs, atMs);
    this.#weigh(service, -weight);
    if (share.entries.length > 0) return;
    namespace.services.delete(service);
    namespace.droppedUpToMs = Math.max(namespace.droppedUpToMs, share.droppedUpToMs);
    if (namespace.services.size > 0) return;
    this.#namespaces.delete(namespaceOf(service));
    this.#forgottenUpToMs = Math.max(this.#forgottenUpToMs, namespace.droppedUpToMs);
  }

  #weigh(service: string, byBytes: number): void {
    const name = namespaceOf(service);
    const namespace = this.#namespaces.get(name);
    const share = namespace?.services.get(service);
    if (namespace === undefined || share === undefined) return;
    this.#weight += byBytes;
    namespace.weight += byBytes;
    share.weight += byBytes;
    namespace.classes.set(service, share.weight);
    this.#classes.set(name, namespace.weight);
  }

  #namespaceFor(name: string): NamespaceShare {
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const made = {
      services: new Map(),
      classes: new WeightClasses(),
      weight: 0,
      droppedUpToMs: NEVER,
    };
    this.#namespaces.set(name, made);
    return made;
  }

  #share(service: string): ServiceShare | undefined {
    return this.#namespaces.get(namespaceOf(service))?.services.get(service);
  }
}

/** Empty for entries that concern the whole node. */
function namespaceOf(service: string): string {
  return service.slice(0, Math.max(0, service.indexOf('/')));
}

/**
 * Finds a key whose weight is within a factor of two of the largest, at a constant cost: keys of
 * similar weight share a class, the one that entered it first in front.
 */
class WeightClasses {
  readonly #classes: Set<string>[] = [];
  readonly #classOf = new Map<string, number>();

  /** 0: forget the key. */
  set(key: string, weight: number): void {
    const now = weight <= 0 ? undefined : 32 - Math.clz32(weight);
    const before = this.#classOf.get(key);
    if (now === before) return;
    if (before !== undefined) this.#classes[before]?.delete(key);
    if (now === undefined) {
      this.#classOf.delete(key);
      return;
    }
    this.#classOf.set(key, now);
    while (this.#classes.length <= now) this.#classes.push(new Set());
    this.#classes[now]?.add(key);
  }

  heaviest(): string | undefined {
    for (let index = this.#classes.length - 1; index >= 0; index--) {
      for (const key of this.#classes[index] ?? []) return key;
    }
    return undefined;
  }
}
