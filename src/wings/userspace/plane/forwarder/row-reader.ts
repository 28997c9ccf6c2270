import type { EndpointList } from '../../../../forwarding/model.ts';
import {
  type AddressKey,
  FORWARDED,
  findFrontend,
  LISTS,
  LOCAL,
  listAt,
  load,
  MASQUERADED,
  NODE_PORT,
  ROW,
  ROW_WORDS,
  ROWS,
  TREATMENT_BITS,
  TREATMENTS,
  VERSION,
} from './row-memory.ts';

/** The longest wait for a writer that has lost its CPU, before looking again. */
const WRITE_WAIT_MS = 1;

/**
 * Finds the list of a frontend. What is read between `begin` and an `isCurrent` that returns false
 * is void: read again. Its fields are those of the list that was found last.
 */
export class RowReader {
  readonly #words: Int32Array;
  readonly #nodePort = { a: 0, b: 0, c: 0, d: 0, meta: 0 };
  #listAt = 0;
  size = 0;
  row = 0;
  list: EndpointList = 'cluster';
  masquerade = false;
  /** The main thread chooses the endpoint, because it knows every client. */
  isSticky = false;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  begin(): number {
    for (;;) {
      const version = Atomics.load(this.#words, VERSION);
      if ((version & 1) === 0) return version;
      Atomics.wait(this.#words, VERSION, version, WRITE_WAIT_MS);
    }
  }

  isCurrent(version: number): boolean {
    return Atomics.load(this.#words, VERSION) === version;
  }

  /** The exact address first, then the node port. False: nothing is forwarded for this source class. */
  find(key: AddressKey, sourceIndex: number): boolean {
    const words = this.#words;
    this.#nodePort.meta = key.meta | NODE_PORT;
    const at = findFrontend(words, key) || findFrontend(words, this.#nodePort);
    if (at === 0) return false;
    const bits = load(words, at + TREATMENTS) >>> (sourceIndex * TREATMENT_BITS);
    if ((bits & FORWARDED) === 0) return false;
    this.masquerade = (bits & MASQUERADED) !== 0;
    this.open(load(words, at + ROW), (bits & LOCAL) === 0 ? 'cluster' : 'local');
    return true;
  }

  open(row: number, list: EndpointList): void {
    const at = listAt(row, list);
    this.row = row;
    this.list = list;
    this.isSticky = load(this.#words, ROWS + row * ROW_WORDS) !== 0;
    this.#listAt = LISTS + load(this.#words, at);
    this.size = load(this.#words, at + 1);
  }

  slotAt(index: number): number {
    return load(this.#words, this.#listAt + index);
  }
}
