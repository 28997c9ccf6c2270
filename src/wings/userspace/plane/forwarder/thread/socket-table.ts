import {
  EPOLLET,
  EPOLLIN,
  EPOLLOUT,
  EPOLLPRI,
  EPOLLRDHUP,
} from '../../../../../linux/sockets/socket-constants.ts';
import { SocketError } from '../../../../../linux/sockets/socket-error.ts';
import type { Epoll } from '../../../../../linux/userspace/epoll.ts';
import { isNoRoom } from '../../../../../linux/userspace/no-room.ts';
import type { Stream } from './pair.ts';

/**
 * Edge-triggered: an event comes once, when something changed. A socket that is added is reported
 * with everything that was there before.
 */
const MASK = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;

/** Sockets in epoll, each with the stream that is received from it. */
export class SocketTable {
  readonly #epoll: Epoll;
  readonly #streams: (Stream | undefined)[] = [];
  #lastTag = 0;

  constructor(epoll: Epoll) {
    this.#epoll = epoll;
  }

  /** False: the kernel has no room for it. The user's limit of watches is shared with other processes. */
  watch(stream: Stream): boolean {
    this.#lastTag = (this.#lastTag + 1) | 0;
    stream.tag = this.#lastTag;
    this.#streams[stream.from] = stream;
    const failed = this.#epoll.add(stream.from, MASK, stream.tag);
    if (failed === 0) return true;
    this.forget(stream);
    if (!isNoRoom(failed)) throw new SocketError('watch a socket', failed);
    return false;
  }

  /** Undefined: the socket of the event was closed earlier in the same batch. */
  find(fd: number, tag: number): Stream | undefined {
    const stream = this.#streams[fd];
    return stream?.tag === tag ? stream : undefined;
  }

  /** It is closed next, which removes it from epoll unless another process has it. */
  forget(stream: Stream): void {
    if (this.#streams[stream.from] === stream) this.#streams[stream.from] = undefined;
  }

  /** It stays open, or another process has it: the kernel would report it for ever. */
  unwatch(stream: Stream): void {
    this.forget(stream);
    this.#epoll.remove(stream.from);
  }
}
