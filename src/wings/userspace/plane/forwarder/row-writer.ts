import {
  type EndpointList,
  type ServicePortKey,
  SOURCE_CLASSES,
} from '../../../../forwarding/model.ts';
import type { WireFrontend } from '../forwarder-protocol.ts';
import {
  ADDRESS,
  type AddressKey,
  bucketOf,
  FORWARDED,
  FRONTEND_WORDS,
  FRONTENDS,
  isFrontend,
  LIST_WORDS,
  LISTS,
  LOCAL,
  listAt,
  load,
  MASQUERADED,
  META,
  MOST_FRONTENDS,
  MOST_ROWS,
  NEXT,
  ROW,
  ROW_WORDS,
  ROWS,
  SEED,
  TREATMENT_BITS,
  TREATMENTS,
  VERSION,
} from './row-memory.ts';
import { MOST_SLOTS } from './slots.ts';

/** Writes what RowReader reads. All but `write` are called within it. */
export class RowWriter {
  readonly #words: Int32Array;
  readonly #rows = new Numbers(MOST_ROWS);
  /** By number. */
  readonly #keys: ServicePortKey[] = [];
  readonly #frontends = new Numbers(MOST_FRONTENDS);
  readonly #lists = new ListMemory(Math.log2(LIST_WORDS));
  /** Where a slot is in a list of its row, counted from 1; 0: nowhere. */
  readonly #places = { cluster: new Int32Array(MOST_SLOTS), local: new Int32Array(MOST_SLOTS) };

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** Before the first write. */
  seed(seed: number): void {
    this.#words[SEED] = seed;
  }

  /** Readers see all of it, or nothing yet. */
  write(change: () => void): void {
    Atomics.add(this.#words, VERSION, 1);
    try {
      change();
    } finally {
      Atomics.add(this.#words, VERSION, 1);
      Atomics.notify(this.#words, VERSION);
    }
  }

  /** Undefined: there is no room for one more. */
  newRow(key: ServicePortKey): number | undefined {
    const row = this.#rows.take();
    if (row !== undefined) this.#keys[row] = key;
    return row;
  }

  setSticky(row: number, isSticky: boolean): void {
    this.#store(ROWS + row * ROW_WORDS, isSticky ? 1 : 0);
  }

  /** Its lists must be empty. */
  clearRow(row: number): void {
    for (const list of ['cluster', 'local'] as const) {
      const at = listAt(row, list);
      this.#freeList(load(this.#words, at));
      this.#store(at, 0);
    }
    this.setSticky(row, false);
  }

  /** No thread has it in hand any more. */
  freeRow(row: number): void {
    this.#rows.free(row);
  }

  /**
   * While an address moves from one Service to another two rows may claim a frontend. It is in the
   * chain for both then, and leads to the one whose key is first, whatever the order of the changes.
   */
  addFrontend(row: number, key: AddressKey, treatments: WireFrontend['treatments']): void {
    const words = this.#words;
    const at = FRONTENDS + (this.#frontends.take() as number) * FRONTEND_WORDS;
    const { a, b, c, d, meta } = key;
    for (const [index, word] of [a, b, c, d].entries()) this.#store(at + ADDRESS + index, word);
    this.#store(at + META, meta);
    this.#store(at + TREATMENTS, treatmentBits(treatments));
    this.#store(at + ROW, row);
    let link = bucketOf(words, key);
    for (let next = load(words, link); next !== 0; next = load(words, link)) {
      if (isFrontend(words, next, key) && this.#keyAt(next) > this.#keyAt(at)) break;
      link = next + NEXT;
    }
    this.#store(at + NEXT, load(words, link));
    this.#store(link, at);
  }

  removeFrontend(row: number, key: AddressKey): void {
    const words = this.#words;
    let link = bucketOf(words, key);
    for (let at = load(words, link); at !== 0; at = load(words, link)) {
      if (isFrontend(words, at, key) && load(words, at + ROW) === row) {
        this.#store(link, load(words, at + NEXT));
        this.#frontends.free((at - FRONTENDS) / FRONTEND_WORDS);
        return;
      }
      link = at + NEXT;
    }
  }

  /** False: there is no room for a list of so many more. */
  reserve(row: number, list: EndpointList, more: number): boolean {
    const at = listAt(row, list);
    const [start, size] = [load(this.#words, at), load(this.#words, at + 1)];
    if (size + more <= this.#capacity(start)) return true;
    const next = this.#newList(size + more);
    if (next === undefined) return false;
    for (let index = 0; index < size; index++) {
      this.#store(LISTS + next + index, load(this.#words, LISTS + start + index));
    }
    this.#store(at, next);
    this.#freeList(start);
    return true;
  }

  has(list: EndpointList, slot: number): boolean {
    return this.#places[list][slot] !== 0;
  }

  /** There is room for it. */
  add(row: number, list: EndpointList, slot: number): void {
    const at = listAt(row, list);
    const size = load(this.#words, at + 1);
    this.#store(LISTS + load(this.#words, at) + size, slot);
    this.#store(at + 1, size + 1);
    this.#places[list][slot] = size + 1;
  }

  /** The last one takes its place, so that it costs the same in a long list. */
  remove(row: number, list: EndpointList, slot: number): void {
    const at = listAt(row, list);
    const [start, size] = [LISTS + load(this.#words, at), load(this.#words, at + 1)];
    const place = this.#places[list][slot] as number;
    const last = load(this.#words, start + size - 1);
    this.#store(start + place - 1, last);
    this.#places[list][last] = place;
    this.#places[list][slot] = 0;
    this.#store(at + 1, size - 1);
  }

  /** Of the row that claims the frontend. */
  #keyAt(frontend: number): ServicePortKey {
    return this.#keys[load(this.#words, frontend + ROW)] as ServicePortKey;
  }

  /** The first word of a block is its exponent. A list starts behind it, so that 0 is none. */
  #newList(size: number): number | undefined {
    const exponent = Math.ceil(Math.log2(size + 1));
    const block = this.#lists.take(exponent);
    if (block === undefined) return undefined;
    this.#store(LISTS + block, exponent);
    return block + 1;
  }

  #freeList(start: number): void {
    if (start !== 0) this.#lists.free(start - 1, load(this.#words, LISTS + start - 1));
  }

  #capacity(start: number): number {
    return start === 0 ? 0 : 2 ** load(this.#words, LISTS + start - 1) - 1;
  }

  #store(at: number, word: number): void {
    Atomics.store(this.#words, at, word);
  }
}

/** Numbers from 1 on, each given to one at a time. */
class Numbers {
  readonly #most: number;
  readonly #free: number[] = [];
  #last = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(): number | undefined {
    const freed = this.#free.pop();
    if (freed !== undefined || this.#last === this.#most - 1) return freed;
    return ++this.#last;
  }

  free(number: number): void {
    this.#free.push(number);
  }
}

function treatmentBits(treatments: WireFrontend['treatments']): number {
  let bits = 0;
  for (const [index, source] of SOURCE_CLASSES.entries()) {
    const treatment = treatments[source];
    if (treatment === null) continue;
    const own =
      FORWARDED |
      (treatment.list === 'local' ? LOCAL : 0) |
      (treatment.masquerade ? MASQUERADED : 0);
    bits |= own << (index * TREATMENT_BITS);
  }
  return bits;
}

/**
 * Room for lists of words, in blocks of a power of two. A block that is freed joins its neighbour,
 * so that many short lists leave room for a long one.
 */
export class ListMemory {
  /** Starts of free blocks, by exponent. */
  readonly #free: readonly Set<number>[];

  constructor(exponent: number) {
    this.#free = Array.from({ length: exponent + 1 }, () => new Set<number>());
    this.#free[exponent]?.add(0);
  }

  /** The start of 2^exponent words; undefined: there is no room for them. */
  take(exponent: number): number | undefined {
    const blocks = this.#free[exponent];
    if (blocks === undefined) return undefined;
    const [start] = blocks;
    if (start !== undefined) {
      blocks.delete(start);
      return start;
    }
    const larger = this.take(exponent + 1);
    if (larger !== undefined) blocks.add(larger + 2 ** exponent);
    return larger;
  }

  free(start: number, exponent: number): void {
    const size = 2 ** exponent;
    const neighbour = start % (2 * size) === 0 ? start + size : start - size;
    if (this.#free[exponent]?.delete(neighbour))
      this.free(Math.min(start, neighbour), exponent + 1);
    else this.#free[exponent]?.add(start);
  }
}
