import { Heap } from './heap.ts';
import { FAMILIES, type Family } from './model.ts';
import type { Entry } from './register.ts';

/** A Service to recompile, and in which families. */
export interface Stale {
  readonly entry: Entry;
  readonly families: readonly Family[];
}

/** The pending Services of one namespace. */
interface Lane {
  readonly namespace: string;
  /** In the order in which they became stale. */
  readonly entries: Set<Entry>;
  /** Virtual time of the namespace before its next Service. */
  start: number;
  /** Estimated virtual time after its next Service. */
  finish: number;
  /** Tie-breaker: longest waiting first. */
  turn: number;
}

/**
 * The Services to compile, in an order that is fair between namespaces (weighted fair queuing):
 * next is the namespace with the least work done after it, and in it the Service that has waited
 * longest. A namespace that asks for little never waits for one that asks for much.
 */
export class StaleQueue {
  readonly #families = new Map<Entry, readonly Family[]>();
  readonly #lanes = new Map<string, Lane>();
  readonly #heap = new Heap<Lane>((a, b) =>
    a.finish === b.finish ? a.turn < b.turn : a.finish < b.finish,
  );
  /** Virtual times of idle namespaces, while ahead of the others. */
  readonly #ahead = new Map<string, number>();
  #now = 0;
  #turns = 0;

  get isEmpty(): boolean {
    return this.#families.size === 0;
  }

  has(entry: Entry): boolean {
    return this.#families.has(entry);
  }

  mark(entry: Entry, families: readonly Family[]): void {
    const known = this.#families.get(entry);
    this.#families.set(entry, known === undefined ? families : union(known, families));
    if (known === undefined) this.#enter(entry);
  }

  /** Takes one Service immediately. Undefined: it is up to date. */
  withdraw(entry: Entry): Stale | undefined {
    const families = this.#families.get(entry);
    if (families === undefined) return undefined;
    this.#families.delete(entry);
    this.#lanes.get(namespaceOf(entry))?.entries.delete(entry);
    return { entry, families };
  }

  /**
   * Passes the next Service to `work` and returns the amount of work; 0: none pending, or it needs
   * more than `most`.
   */
  next(work: (stale: Stale) => number, most = Number.POSITIVE_INFINITY): number {
    for (let lane = this.#heap.pop(); lane !== undefined; lane = this.#heap.pop()) {
      const [entry] = lane.entries;
      if (entry && this.#hasGrown(lane, entry)) continue;
      if (entry && sizeOf(entry) > most) {
        this.#heap.push(lane);
        return 0;
      }
      const stale = entry && this.withdraw(entry);
      this.#now = Math.max(this.#now, lane.start);
      const done = stale === undefined ? 0 : work(stale);
      this.#leave(lane, lane.start + done);
      if (done > 0) return done;
    }
    return 0;
  }

  /** The estimate may be outdated by new slices: then it is queued again. */
  #hasGrown(lane: Lane, entry: Entry): boolean {
    const finish = lane.start + sizeOf(entry);
    if (finish <= lane.finish) return false;
    lane.finish = finish;
    this.#heap.push(lane);
    return true;
  }

  #enter(entry: Entry): void {
    const namespace = namespaceOf(entry);
    const waiting = this.#lanes.get(namespace);
    if (waiting !== undefined) {
      waiting.entries.add(entry);
      return;
    }
    const start = Math.max(this.#now, this.#ahead.get(namespace) ?? 0);
    this.#ahead.delete(namespace);
    const finish = start + sizeOf(entry);
    const lane = { namespace, entries: new Set([entry]), start, finish, turn: this.#turns++ };
    this.#lanes.set(namespace, lane);
    this.#heap.push(lane);
  }

  #leave(lane: Lane, finish: number): void {
    const [entry] = lane.entries;
    if (entry === undefined) {
      this.#lanes.delete(lane.namespace);
      this.#remember(lane.namespace, finish);
      return;
    }
    lane.start = finish;
    lane.finish = finish + sizeOf(entry);
    lane.turn = this.#turns++;
    this.#heap.push(lane);
  }

  #remember(namespace: string, finish: number): void {
    this.#ahead.set(namespace, finish);
    if (this.#ahead.size <= MOST_AHEAD) return;
    for (const [name, work] of this.#ahead) {
      if (work <= this.#now || this.#ahead.size > MOST_AHEAD) this.#ahead.delete(name);
    }
  }
}

/** A dropped namespace starts without history. */
const MOST_AHEAD = 4096;

function union(a: readonly Family[], b: readonly Family[]): readonly Family[] {
  if (a === b || b.length === 0) return a;
  if (a.length === 0) return b;
  return a.length === 1 && b.length === 1 && a[0] === b[0] ? a : FAMILIES;
}

/** Estimated cost of compiling it. */
export function sizeOf({ service, slices, rows }: Entry): number {
  const ports = Math.max(service?.ports.length ?? 0, rows.length, 1);
  const frontends = 1 + (service?.externalIPs.length ?? 0);
  return ports * slices.reduce((sum, slice) => sum + slice.endpoints.length, frontends);
}

function namespaceOf({ name }: Entry): string {
  return name.slice(0, name.indexOf('/'));
}
