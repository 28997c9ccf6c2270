import { slotPrint } from './entry-fingerprint.ts';
import { SLOT, wordsIn } from './layout.ts';

const SLOT_WORDS = wordsIn(SLOT);
const ENDPOINT_WORDS = SLOT.connections / 4;

/** Connections counted for the endpoints of a list that is moved, found again by endpoint. */
export class CountedSlots {
  readonly #slots: Int32Array;
  /**
   * For endpoints with any connections; two with one fingerprint are rare, and then all are
   * searched.
   */
  readonly #byPrint: ReadonlyMap<number, number>;

  constructor(slots: Int32Array) {
    const byPrint = new Map<number, number>();
    for (let at = 0; at < slots.length; at += SLOT_WORDS) {
      if (hasConnections(slots, at)) byPrint.set(slotPrint(slots, at), at);
    }
    this.#slots = slots;
    this.#byPrint = byPrint;
  }

  /** `print`: that of the endpoint in `target`, which is given its connections. */
  copyTo(target: Int32Array, at: number, print: number): void {
    const known = this.#byPrint.get(print);
    if (known === undefined) return;
    const from = this.#isSame(known, target, at) ? known : this.#search(target, at);
    if (from === undefined) return;
    for (let word = ENDPOINT_WORDS; word < SLOT_WORDS; word++) {
      target[at + word] = this.#slots[from + word] ?? 0;
    }
  }

  #search(target: Int32Array, at: number): number | undefined {
    for (let from = 0; from < this.#slots.length; from += SLOT_WORDS) {
      if (this.#isSame(from, target, at)) return from;
    }
    return undefined;
  }

  #isSame(from: number, target: Int32Array, at: number): boolean {
    for (let word = 0; word < ENDPOINT_WORDS; word++) {
      if (this.#slots[from + word] !== target[at + word]) return false;
    }
    return true;
  }
}

function hasConnections(slots: Int32Array, at: number): boolean {
  for (let word = ENDPOINT_WORDS; word < SLOT_WORDS; word++) if (slots[at + word]) return true;
  return false;
}
