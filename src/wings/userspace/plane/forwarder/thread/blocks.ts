import { type FixedMemory, fixedMemory } from '../../../../../linux/sockets/fixed-memory.ts';

/** As much as one call receives: larger ones save no CPU. */
export const BLOCK_BYTES = 128 * 1024;
/** A smaller rest is copied, so that a slow reader of small answers holds no whole block. */
const SMALL_BYTES = 16 * 1024;
const MOST_SPARE = 64;
/** Kept rests from which on less is received at once: clients that never read must not fill the memory. */
const MUCH_KEPT_BYTES = 256 * 1024 * 1024;

export type Block = FixedMemory;

/** The block that a thread receives into, and those it has swapped for one with a rest. */
export class Blocks {
  #current = fixedMemory(BLOCK_BYTES);
  readonly #spare: Block[] = [];
  readonly #muchKeptBytes: number;
  #keptBytes = 0;

  constructor(muchKeptBytes = MUCH_KEPT_BYTES) {
    this.#muchKeptBytes = muchKeptBytes;
  }

  /** How much to receive into the current block. */
  get receiveBytes(): number {
    return this.#keptBytes < this.#muchKeptBytes ? BLOCK_BYTES : SMALL_BYTES;
  }

  get current(): Block {
    return this.#current;
  }

  /** Keeps what is in the current block between two offsets. */
  keep(from: number, end: number): Kept {
    const kept = this.#kept(from, end);
    this.#keptBytes += kept.block.bytes.length;
    return kept;
  }

  release(block: Block): void {
    this.#keptBytes -= block.bytes.length;
    if (block.bytes.length === BLOCK_BYTES && this.#spare.length < MOST_SPARE) {
      this.#spare.push(block);
    }
  }

  #kept(from: number, end: number): Kept {
    if (end - from <= SMALL_BYTES) {
      const block = fixedMemory(end - from);
      this.#current.bytes.copy(block.bytes, 0, from, end);
      return { block, from: 0, end: end - from };
    }
    const block = this.#current;
    this.#current = this.#spare.pop() ?? fixedMemory(BLOCK_BYTES);
    return { block, from, end };
  }
}

export interface Kept {
  readonly block: Block;
  readonly from: number;
  readonly end: number;
}
