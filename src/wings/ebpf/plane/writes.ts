import { asPlaneError } from './refusal.ts';

/** Our own writes, for scans that run beside them. */
export class Writes {
  #generation = 0;
  #isUnderWay = false;

  /** Discard a scan if it changed meanwhile. */
  get generation(): number {
    return this.#generation;
  }

  /** A scan that begins now would see half of a write. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** A write beside the calls of the contract. */
  note(): void {
    this.#generation += 1;
  }

  /** Calls of the contract never overlap. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#generation += 1;
    this.#isUnderWay = true;
    try {
      return await work();
    } catch (error) {
      throw asPlaneError(error);
    } finally {
      this.#isUnderWay = false;
    }
  }
}
