/** The kernel fills at most this much at once into an answer. */
export const RECEIVE_BYTES = 256 * 1024;

/**
 * Lends buffers to sockets that live for one call. A buffer of its own for each is garbage of 256 KiB
 * outside of the heap: hundreds a second make V8 collect all the time, and leave pages behind.
 */
export class ReceiveBuffers {
  readonly #spare: Buffer[] = [];

  /** Nobody else has it until `giveBack`, after which the borrower must not touch it. */
  borrow(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(RECEIVE_BYTES);
  }

  giveBack(buffer: Buffer): void {
    this.#spare.push(buffer);
  }
}
