import { type FixedMemory, fixedMemory } from '../../../../linux/sockets/fixed-memory.ts';

/** As much as one call receives: larger ones save no CPU. */
export const BLOCK_BYTES = 128 * 1024;
/** A smaller rest is copied, so that a slow reader of small answers holds no whole block. */
const SMALL_BYTES = 16 * 1024;
const MOST_SPARE = 64;

export type Block = FixedMemory;

/** The block that a thread receives into, and those it has swapped for one with a rest. */
export class Blocks {
  #current = fixedMemory(BLOCK_BYTES);
  readonly #spare: Block[] = [];

  get current(): Block {
    return this.#current;
  }

  /** Keeps what is in the current block between two offsets. */
  keep(from: number, end: number): Kept {
    if (end - from <= SMALL_BYTES) {
      const block = fixedMemory(end - from);
      this.#current.bytes.copy(block.bytes, 0, from, end);
      return { block, from: 0, end: end - from };
    }
    const block = this.#current;
    this.#current = this.#spare.pop() ?? fixedMemory(BLOCK_BYTES);
    return { block, from, end };
  }

  release(block: Block): void {
    if (block.bytes.length === BLOCK_BYTES && this.#spare.length < MOST_SPARE) {
      this.#spare.push(block);
    }
  }
}

export interface Kept {
  readonly block: Block;
  readonly from: number;
  readonly end: number;
}
