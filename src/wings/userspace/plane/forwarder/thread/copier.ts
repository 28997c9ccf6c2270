import { constants } from 'node:os';
import { MOST_UNSENT_BYTES } from '../../../../../linux/sockets/listener.ts';
import {
  EPOLLERR,
  EPOLLHUP,
  EPOLLIN,
  EPOLLOUT,
  EPOLLPRI,
  EPOLLRDHUP,
  MSG_NOSIGNAL,
  SHUT_WR,
  SO_OOBINLINE,
  SO_RCVBUF,
  SO_RCVBUFFORCE,
  SOL_SOCKET,
  SOL_TCP,
  TCP_NOTSENT_LOWAT,
  TCP_WINDOW_CLAMP,
} from '../../../../../linux/sockets/socket-constants.ts';
import { errno, recv, send, shutdown } from '../../../../../linux/sockets/socket-libc.ts';
import type { SocketOptions } from '../../../../../linux/sockets/socket-options.ts';
import type { Blocks } from './blocks.ts';
import type { Endings } from './endings.ts';
import { BULK_BYTES, type Pair, STATE, type Stream } from './pair.ts';
import type { Counts } from './thread-counts.ts';

const { EAGAIN, EINTR } = constants.errno;
/** Of one stream in one iteration, so that a fast one does not hold up the others. */
const MOST_BLOCKS = 8;
const READABLE = EPOLLIN | EPOLLRDHUP | EPOLLHUP;
/** The kernel of an endpoint that never reads takes less (tcp_rmem: 6 MB by default). */
const TRUSTED_BYTES = 16 * 1024 * 1024;
/** The kernel doubles them, for its own overhead. */
const BOUNDED_RECEIVE_BYTES = 192 * 1024;
const TRUSTED_RECEIVE_BYTES = 2 * 1024 * 1024;

/** Before Linux 6.11 the window does not follow a fixed buffer. */
const WINDOW = { level: SOL_TCP, name: TCP_WINDOW_CLAMP };

interface CopierParts {
  readonly blocks: Blocks;
  readonly counts: Counts;
  readonly endings: Endings;
  readonly options: SocketOptions;
  /** One side has said that nothing more will come. */
  readonly onHalfClosed: (pair: Pair) => void;
}

/** Copies bytes, ends and resets between the sockets of open pairs. */
export class Copier {
  readonly #of: CopierParts;
  #due: Stream[] = [];

  constructor(parts: CopierParts) {
    this.#of = parts;
  }

  /** An event at the socket that the stream comes from. */
  onEvent(stream: Stream, mask: number): void {
    const { pair } = stream;
    const back = stream === pair.toEndpoint ? pair.toClient : pair.toEndpoint;
    if ((mask & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) !== 0) stream.isEnding = true;
    if ((mask & EPOLLPRI) !== 0) {
      this.#of.options.setNumber(stream.from, { level: SOL_SOCKET, name: SO_OOBINLINE }, 1);
    }
    // To the end: what came while there was a rest, or before the pair was open, had its event.
    if ((mask & EPOLLOUT) !== 0 && back.rest !== undefined) this.pump(back, true);
    if (pair.state !== STATE.open) return;
    const isReadable = (mask & (READABLE | EPOLLPRI | EPOLLERR)) !== 0;
    if (isReadable && stream.rest === undefined && !stream.hasEnded) {
      // Receiving stops short of an urgent byte.
      this.pump(stream, stream.isEnding || (mask & EPOLLPRI) !== 0);
    }
    // A reset comes after the bytes that were received before it.
    if ((mask & EPOLLERR) !== 0) this.#of.endings.reset(pair);
  }

  get hasDue(): boolean {
    return this.#due.length > 0;
  }

  pumpDue(): void {
    const due = this.#due;
    this.#due = [];
    for (const stream of due) {
      stream.isDue = false;
      if (stream.pair.state === STATE.open) this.pump(stream, true);
    }
  }

  /** `toTheEnd`: until nothing is left; else a short read means that an event will tell of more. */
  pump(stream: Stream, toTheEnd: boolean): void {
    if (stream.rest !== undefined && !this.#sendRest(stream)) return;
    const { from, to, pair } = stream;
    for (let blocks = 0; !stream.hasEnded; blocks++) {
      if (blocks === MOST_BLOCKS) {
        this.#makeDue(stream);
        return;
      }
      if (stream.byteCount >= stream.boundAtBytes) boundBuffers(this.#of.options, stream);
      const { current, receiveBytes } = this.#of.blocks;
      const { address } = current;
      const most =
        stream.byteCount < BULK_BYTES ? Math.min(BULK_BYTES, receiveBytes) : receiveBytes;
      const got = recv(from, address, most, 0);
      if (got > 0) {
        const sent = send(to, address, got, MSG_NOSIGNAL);
        if (sent < got && !this.#keepRest(stream, sent, got)) return;
        this.#count(stream, sent);
        if (got < most && !toTheEnd) return;
      } else if (got === 0) stream.hasEnded = true;
      else {
        const failed = errno();
        if (failed === EAGAIN) return;
        if (failed !== EINTR) {
          this.#of.endings.reset(pair);
          return;
        }
      }
    }
    this.#passEnd(stream);
  }

  /** False, always: nothing more is to be received. */
  #keepRest(stream: Stream, sent: number, got: number): boolean {
    if (sent < 0 && !this.#isTemporary(stream, errno())) return false;
    const from = Math.max(sent, 0);
    this.#count(stream, from);
    const kept = this.#of.blocks.keep(from, got);
    stream.rest = kept.block;
    stream.restAt = kept.from;
    stream.restEnd = kept.end;
    return false;
  }

  /** False: not all of it could be sent. */
  #sendRest(stream: Stream): boolean {
    const { rest, restAt, restEnd } = stream;
    if (rest === undefined) return true;
    const sent = send(stream.to, rest.address + restAt, restEnd - restAt, MSG_NOSIGNAL);
    if (sent < 0) {
      this.#isTemporary(stream, errno());
      return false;
    }
    this.#count(stream, sent);
    stream.restAt += sent;
    if (stream.restAt < restEnd) return false;
    stream.rest = undefined;
    this.#of.blocks.release(rest);
    return true;
  }

  /** Why nothing could be sent: false if the pair has to end for it, and was reset. */
  #isTemporary(stream: Stream, failed: number): boolean {
    // An event will tell of room.
    if (failed === EAGAIN) return true;
    if (failed === EINTR) this.#makeDue(stream);
    else this.#of.endings.reset(stream.pair);
    return failed === EINTR;
  }

  #passEnd(stream: Stream): void {
    if (stream.hasPassedEnd) return;
    stream.hasPassedEnd = true;
    const { pair } = stream;
    // Closing says it too.
    if (pair.toEndpoint.hasPassedEnd && pair.toClient.hasPassedEnd) this.#of.endings.close(pair);
    else {
      shutdown(stream.to, SHUT_WR);
      this.#of.onHalfClosed(pair);
    }
  }

  #count(stream: Stream, sent: number): void {
    stream.byteCount += sent;
    this.#of.counts.add(stream.pair.slot, stream.countField, sent);
  }

  #makeDue(stream: Stream): void {
    if (stream.isDue) return;
    stream.isDue = true;
    this.#due.push(stream);
  }
}

/**
 * Bounds the kernel's buffers of a stream when it gets long. Left alone they grow to megabytes as
 * long as one side sends faster than the other reads. A stream whose other side has read much gets
 * a larger window again, which distant clients need.
 */
function boundBuffers(options: SocketOptions, stream: Stream): void {
  if (stream.byteCount < TRUSTED_BYTES) {
    stream.boundAtBytes = TRUSTED_BYTES;
    const unsent = { level: SOL_TCP, name: TCP_NOTSENT_LOWAT };
    options.setNumber(stream.to, unsent, MOST_UNSENT_BYTES);
    const received = { level: SOL_SOCKET, name: SO_RCVBUF };
    options.setNumber(stream.from, received, BOUNDED_RECEIVE_BYTES);
    options.setNumber(stream.from, WINDOW, BOUNDED_RECEIVE_BYTES);
    return;
  }
  stream.boundAtBytes = Number.POSITIVE_INFINITY;
  const forced = { level: SOL_SOCKET, name: SO_RCVBUFFORCE };
  const received = { level: SOL_SOCKET, name: SO_RCVBUF };
  if (options.setNumber(stream.from, forced, TRUSTED_RECEIVE_BYTES) !== 0) {
    options.setNumber(stream.from, received, TRUSTED_RECEIVE_BYTES);
  }
  options.setNumber(stream.from, WINDOW, TRUSTED_RECEIVE_BYTES);
}
