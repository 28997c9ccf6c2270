import { COUNT, COUNT_FIELDS, MOST_SLOTS, THREAD_COUNT } from '../slots.ts';
import type { ThreadStart } from '../thread-messages.ts';

const THREAD_AT = MOST_SLOTS * COUNT_FIELDS;

/** Counts in shared memory: those of this thread, and open connections of all threads. */
export class Counts {
  readonly #counts: Float64Array;
  readonly #open: Int32Array;
  readonly #connections: Int32Array;

  constructor({ counts, memory }: Pick<ThreadStart, 'counts' | 'memory'>) {
    this.#counts = new Float64Array(counts);
    this.#open = new Int32Array(memory.open);
    this.#connections = new Int32Array(memory.connections);
  }

  /** Of all threads. */
  get connections(): number {
    return Atomics.load(this.#connections, 0);
  }

  changeConnections(by: 1 | -1): void {
    Atomics.add(this.#connections, 0, by);
  }

  add(slot: number, field: number, count: number): void {
    (this.#counts[slot * COUNT_FIELDS + field] as number) += count;
  }

  addConnection(slot: number, connectMs: number): void {
    this.add(slot, COUNT.connections, 1);
    this.add(slot, COUNT.connectMicroseconds, Math.round(connectMs * 1000));
  }

  addOfThread(what: keyof typeof THREAD_COUNT): void {
    (this.#counts[THREAD_AT + THREAD_COUNT[what]] as number) += 1;
  }

  open(slot: number): number {
    return Atomics.load(this.#open, slot);
  }

  changeOpen(slot: number, by: 1 | -1): void {
    Atomics.add(this.#open, slot, by);
  }
}
