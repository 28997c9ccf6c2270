import type { ServicePortKey } from '../forwarding/model.ts';
import type { Entry } from './outstanding-entry.ts';
import { entryWeight } from './weight.ts';

/** The rows of one namespace, in the order in which they came. */
export interface Lane {
  readonly rows: ReadonlyMap<ServicePortKey, Entry>;
  /** When the kernel last took a part of one of them, on the monotonic clock. */
  readonly lastPartAtMs: number | undefined;
}

interface OwnLane extends Lane {
  readonly rows: Map<ServicePortKey, Entry>;
  /**
   * Its remaining budget in kernel objects (deficit); below zero it has had more than its share.
   */
  credit: number;
  lastPartAtMs: number | undefined;
}

/** The limits of one step. */
export interface StepLimits {
  readonly rows: number;
  /** Kernel objects. A single row with more gets a step of its own. */
  readonly objects: number;
}

/** The cost of a row besides its objects, so that many small rows use up a budget too. */
const OBJECTS_PER_ROW = 16;

/**
 * Queued rows, fair between namespaces: round robin over them, each round worth about the same
 * number of kernel objects, and first in first out within one. A namespace that floods the queue
 * delays the first row of another by one round, not by its whole backlog.
 */
export class FairQueue {
  /** In round-robin order: the next namespace is first. */
  readonly #lanes = new Map<string, OwnLane>();
  readonly #objectsPerTurn: number;
  #size = 0;

  constructor(objectsPerTurn: number) {
    this.#objectsPerTurn = objectsPerTurn;
  }

  get size(): number {
    return this.#size;
  }

  /** Without the namespace it is taken out of the key, so that no second map of all rows is needed. */
  get(key: ServicePortKey, namespace = key.slice(0, key.indexOf('/'))): Entry | undefined {
    return this.#lanes.get(namespace)?.rows.get(key);
  }

  add(entry: Entry): void {
    const { namespace } = entry.id;
    let lane = this.#lanes.get(namespace);
    if (lane === undefined) {
      lane = { rows: new Map(), credit: 0, lastPartAtMs: undefined };
      this.#lanes.set(namespace, lane);
    }
    if (!lane.rows.has(entry.key)) this.#size++;
    lane.rows.set(entry.key, entry);
  }

  delete({ key, id: { namespace } }: Entry): void {
    const lane = this.#lanes.get(namespace);
    if (lane?.rows.delete(key) !== true) return;
    this.#size--;
    if (lane.rows.size === 0) this.#lanes.delete(namespace);
  }

  /** A part of the row was written. It stays the first of its namespace until all of it is. */
  partWritten({ key, id: { namespace } }: Entry, atMs: number): void {
    const lane = this.#lanes.get(namespace);
    if (lane?.rows.has(key)) lane.lastPartAtMs = atMs;
  }

  lanes(): Iterable<readonly [string, Lane]> {
    return this.#lanes;
  }

  *rows(): Generator<Entry> {
    for (const { rows } of this.#lanes.values()) yield* rows.values();
  }

  /** The rows for the next step. They stay in the queue until they are deleted. */
  take(limits: StepLimits): Entry[] {
    const step = new Step(limits);
    const cursors = new Map<OwnLane, Cursor>();
    // A lane that was served goes to the end of the map, where this loop meets it again.
    for (const [namespace, lane] of this.#lanes) {
      const cursor = cursors.get(lane) ?? new Cursor(lane.rows);
      if (cursor.head === undefined) continue;
      cursors.set(lane, cursor);
      lane.credit = Math.min(lane.credit, 0) + this.#objectsPerTurn;
      const before = step.taken.length;
      takeTurn(lane, cursor, step);
      // A row that does not fit must be the first of the next step, or it might never fit.
      if (!step.isFull || step.taken.length > before) {
        this.#lanes.delete(namespace);
        this.#lanes.set(namespace, lane);
      }
      if (step.isFull) break;
    }
    return step.taken;
  }
}

function takeTurn(lane: OwnLane, cursor: Cursor, step: Step): void {
  while (cursor.head !== undefined && lane.credit > 0) {
    const cost = step.take(cursor.head);
    if (cost === undefined) return;
    lane.credit -= cost;
    cursor.advance();
    if (step.isFull) return;
  }
  // An empty lane keeps no budget for later.
  if (cursor.head === undefined) lane.credit = Math.min(lane.credit, 0);
}

class Cursor {
  readonly #rows: Iterator<Entry, undefined>;
  head: Entry | undefined;

  constructor(rows: ReadonlyMap<ServicePortKey, Entry>) {
    this.#rows = rows.values();
    this.head = this.#rows.next().value;
  }

  advance(): void {
    this.head = this.#rows.next().value;
  }
}

class Step {
  readonly taken: Entry[] = [];
  isFull = false;
  readonly #limits: StepLimits;
  #objectCount = 0;

  constructor(limits: StepLimits) {
    this.#limits = limits;
  }

  /** Gives what it costs; undefined: it does not fit. */
  take(entry: Entry): number | undefined {
    const { rows, objects } = this.#limits;
    // For a row that is larger than a step, one part is written.
    const weight = Math.min(entryWeight(entry), objects);
    if (this.taken.length > 0 && this.#objectCount + weight > objects) {
      this.isFull = true;
      return undefined;
    }
    this.taken.push(entry);
    this.#objectCount += weight;
    this.isFull = this.taken.length >= rows || this.#objectCount >= objects;
    return weight + OBJECTS_PER_ROW;
  }
}
