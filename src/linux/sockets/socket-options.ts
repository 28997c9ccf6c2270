import { fixedMemory } from './fixed-memory.ts';
import { SO_ERROR, SO_LINGER, SOL_SOCKET } from './socket-constants.ts';
import { errno, getsockopt, setsockopt } from './socket-libc.ts';

/** Reads and writes options of sockets with memory of its own; each thread needs one. */
export class SocketOptions {
  readonly #value = fixedMemory(8);
  /** Written for every connection: Buffer's methods check their arguments. */
  readonly #words = new Int32Array(this.#value.bytes.buffer);
  readonly #size = fixedMemory(4);
  readonly #sizeWord = new Int32Array(this.#size.bytes.buffer);

  /** Returns 0 or the errno. */
  setNumber(fd: number, option: { readonly level: number; readonly name: number }, value: number) {
    this.#words[0] = value;
    const result = setsockopt(fd, option.level, option.name, this.#value.address, 4);
    return result < 0 ? errno() : 0;
  }

  /** Or -errno. */
  getNumber(fd: number, option: { readonly level: number; readonly name: number }): number {
    this.#sizeWord[0] = 4;
    const { address } = this.#value;
    const result = getsockopt(fd, option.level, option.name, address, this.#size.address);
    return result < 0 ? -errno() : (this.#words[0] as number);
  }

  /** Closing the socket will send a reset and drop what was not sent. */
  resetOnClose(fd: number): void {
    this.#words[0] = 1;
    this.#words[1] = 0;
    setsockopt(fd, SOL_SOCKET, SO_LINGER, this.#value.address, 8);
  }

  /** The error that waits at the socket, which reading clears; 0: none. */
  takeError(fd: number): number {
    return Math.abs(this.getNumber(fd, { level: SOL_SOCKET, name: SO_ERROR }));
  }
}
