import { constants } from 'node:os';
import { orThrow } from '../sockets/descriptors.ts';
import { fixedMemory } from '../sockets/fixed-memory.ts';
import { SOCK_CLOEXEC, SOCK_NONBLOCK } from '../sockets/socket-constants.ts';
import { SocketError } from '../sockets/socket-error.ts';
import { errno, eventfd, read, write } from '../sockets/socket-libc.ts';

const { EAGAIN } = constants.errno;
const WORD_BYTES = 8;

/** A descriptor that one thread waits for with epoll and another one raises. */
export function openEventfd(): number {
  return orThrow(eventfd(0, SOCK_NONBLOCK | SOCK_CLOEXEC), 'open an eventfd');
}

/** Raises and clears eventfds, with memory of its own. */
export class EventfdCalls {
  readonly #word = fixedMemory(WORD_BYTES);

  raise(fd: number): void {
    this.#word.bytes.fill(0);
    this.#word.bytes[0] = 1;
    this.#transfer(write(fd, this.#word.address, WORD_BYTES), 'raise an eventfd');
  }

  clear(fd: number): void {
    this.#transfer(read(fd, this.#word.address, WORD_BYTES), 'clear an eventfd');
  }

  /** EAGAIN: it was raised or cleared already. */
  #transfer(result: number, operation: string): void {
    if (result >= 0) return;
    const failed = errno();
    if (failed !== EAGAIN) throw new SocketError(operation, failed);
  }
}
