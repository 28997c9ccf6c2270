import { arch } from 'node:process';
import { closeDescriptor, orThrow } from '../sockets/descriptors.ts';
import { fixedMemory } from '../sockets/fixed-memory.ts';
import { SOCK_CLOEXEC } from '../sockets/socket-constants.ts';
import { epollCreate, epollCtl, epollWait, errno } from '../sockets/socket-libc.ts';

const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const EINTR = 4;
/** struct epoll_event is packed on x64 only. */
const WORDS = arch === 'x64' ? 3 : 4;
const DATA_WORD = arch === 'x64' ? 1 : 2;

/**
 * An epoll whose events are read by index, without an object for each. An event carries the
 * descriptor and a tag: within one batch a descriptor may be closed and its number used again, and
 * then the tag tells that the event is about the socket before.
 */
export class Epoll implements Disposable {
  readonly fd = orThrow(epollCreate(SOCK_CLOEXEC), 'create an epoll');
  readonly #event = fixedMemory(WORDS * 4);
  readonly #eventWords = new Int32Array(this.#event.bytes.buffer);
  readonly #events;
  readonly #words;
  readonly #most: number;

  constructor(mostEvents: number) {
    this.#most = mostEvents;
    this.#events = fixedMemory(mostEvents * WORDS * 4);
    this.#words = new Int32Array(this.#events.bytes.buffer);
  }

  /** Returns 0 or the errno. */
  add(fd: number, mask: number, tag: number): number {
    this.#eventWords[0] = mask;
    this.#eventWords[DATA_WORD] = fd;
    this.#eventWords[DATA_WORD + 1] = tag;
    return epollCtl(this.fd, EPOLL_CTL_ADD, fd, this.#event.address) < 0 ? errno() : 0;
  }

  remove(fd: number): number {
    return epollCtl(this.fd, EPOLL_CTL_DEL, fd, this.#event.address) < 0 ? errno() : 0;
  }

  /** How many events there are now; -1 as the timeout waits without one. */
  wait(timeoutMs: number): number {
    const count = epollWait(this.fd, this.#events.address, this.#most, timeoutMs);
    if (count >= 0) return count;
    const failed = errno();
    if (failed === EINTR) return 0;
    return orThrow(count, 'wait for events');
  }

  maskAt(index: number): number {
    return this.#words[index * WORDS] as number;
  }

  fdAt(index: number): number {
    return this.#words[index * WORDS + DATA_WORD] as number;
  }

  tagAt(index: number): number {
    return this.#words[index * WORDS + DATA_WORD + 1] as number;
  }

  [Symbol.dispose](): void {
    closeDescriptor(this.fd);
  }
}
