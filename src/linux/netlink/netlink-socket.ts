import { constants } from 'node:os';
import { NetlinkError } from './netlink-error.ts';
import {
  bindNetlinkSocket,
  closeDescriptor,
  type Failed,
  openNetlinkSocket,
  pollReadable,
  receiveNow,
  sendNow,
  sendOnThread,
  setSocketOption,
} from './netlink-libc.ts';
import { type NetlinkMessage, readMessages } from './reader.ts';

const SOL_SOCKET = 1;
const SEND_BUFFER = { forced: 32, asked: 7 };
const RECEIVE_BUFFER = { forced: 33, asked: 8 };
const SOL_NETLINK = 270;
const NETLINK_ADD_MEMBERSHIP = 1;
const NETLINK_CAP_ACK = 10;
const NETLINK_EXT_ACK = 11;
const { EBADF, EMSGSIZE, ENOBUFS, EPERM } = constants.errno;
/** Messages per event loop iteration; the rest is read in the next one. */
const MOST_RECEIVES_AT_ONCE = 256;
/** Fits into the smallest buffer there is; to enlarge one takes CAP_NET_ADMIN, which reading does not. */
const ALWAYS_FITS_BYTES = 2048;
/** A larger message holds up the event loop for milliseconds: a thread sends it. */
const LARGE_BYTES = 32 * 1024;

export interface NetlinkSocketOptions {
  readonly protocol: number;
  /** Multicast groups to hear. */
  readonly groups?: readonly number[];
  readonly receiveBufferBytes?: number;
  /** Lends what answers are received into, for sockets that are opened many times a second. */
  readonly buffers?: ReceiveBuffers;
}

/** Callbacks of an event socket. */
export interface NetlinkListener {
  onMessage(message: NetlinkMessage): void;
  /** The port whose messages are skipped: reading hundreds of thousands would take seconds. */
  isSkipped?(portId: number): boolean;
  /**
   * Events were lost (ENOBUFS). Called after the remaining events were delivered: until then the
   * kernel drops events without another notice, so state read earlier would miss them.
   */
  onOverrun(): void;
}

/**
 * The operations of a netlink socket. An interface, so that a test can wrap a socket in one that
 * fails on demand.
 */
export interface Netlink extends Disposable {
  readonly portId: number;
  /** Resolves when the kernel has worked through it; its answers are then there to receive. */
  send(bytes: Buffer): Promise<void>;
  /** One received buffer, valid until the next call; undefined: nothing has arrived. */
  receive(): Iterable<NetlinkMessage> | undefined;
  listen(listener: NetlinkListener, signal: AbortSignal): Promise<void>;
}

/** Opens a socket in the network namespace of the calling thread. */
export function openNetlink(options: NetlinkSocketOptions): Netlink {
  const fd = orThrow(openNetlinkSocket(options.protocol), 'open a netlink socket');
  try {
    const portId = orThrow(bindNetlinkSocket(fd), 'bind a netlink socket');
    // Without it, the error response would include the whole batch.
    setOption(fd, { level: SOL_NETLINK, name: NETLINK_CAP_ACK, value: 1 });
    setOption(fd, { level: SOL_NETLINK, name: NETLINK_EXT_ACK, value: 1 });
    const { receiveBufferBytes: value } = options;
    if (value !== undefined) enlargeBuffer(fd, RECEIVE_BUFFER, value);
    for (const group of options.groups ?? []) {
      setOption(fd, { level: SOL_NETLINK, name: NETLINK_ADD_MEMBERSHIP, value: group });
    }
    return new NetlinkSocket({ fd, portId, buffers: options.buffers ?? new ReceiveBuffers() });
  } catch (error) {
    closeDescriptor(fd);
    throw error;
  }
}

class NetlinkSocket implements Netlink {
  readonly portId: number;
  readonly #fd: number;
  readonly #buffers: ReceiveBuffers;
  /** Undefined: it is closed. */
  #received: Buffer | undefined;
  #sendBufferBytes = 0;
  #hasLost = false;
  #isEmpty = false;

  constructor(parts: {
    readonly fd: number;
    readonly portId: number;
    readonly buffers: ReceiveBuffers;
  }) {
    this.#fd = parts.fd;
    this.portId = parts.portId;
    this.#buffers = parts.buffers;
    this.#received = parts.buffers.borrow();
  }

  async send(bytes: Buffer): Promise<void> {
    this.#makeRoomFor(bytes.length);
    const isLarge = bytes.length > LARGE_BYTES;
    const failed = isLarge ? await sendOnThread(this.#fd, bytes) : sendNow(this.#fd, bytes);
    if (failed)
      throw new NetlinkError('send to the kernel', { ...failed, ...tooLarge(failed, bytes) });
  }

  receive(isSkipped?: (portId: number) => boolean): Iterable<NetlinkMessage> | undefined {
    const received = this.#received;
    if (received === undefined) throw new NetlinkError('receive from the kernel', { errno: EBADF });
    const length = orThrow(receiveNow(this.#fd, received), 'receive from the kernel');
    if (length === 0) return undefined;
    if (length > RECEIVE_BYTES) {
      const detail = `message of ${length} bytes exceeds the buffer of ${RECEIVE_BYTES}`;
      throw new NetlinkError('receive from the kernel', { errno: EMSGSIZE, detail });
    }
    return readMessages(received.subarray(0, length), isSkipped);
  }

  async listen(listener: NetlinkListener, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        stop();
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      const onAbort = () => end(resolve);
      const stop = pollReadable(this.#fd, () => {
        try {
          this.#drain(listener, signal);
        } catch (error) {
          end(() => reject(error instanceof Error ? error : new Error(String(error))));
        }
      });
      signal.addEventListener('abort', onAbort);
    });
  }

  /** A second call does nothing: the number may be that of another socket by then. */
  [Symbol.dispose](): void {
    if (this.#received === undefined) return;
    closeDescriptor(this.#fd);
    this.#buffers.giveBack(this.#received);
    this.#received = undefined;
  }

  #drain(listener: NetlinkListener, signal: AbortSignal): void {
    const isSkipped = (portId: number) => listener.isSkipped?.(portId) ?? false;
    for (let count = 0; count < MOST_RECEIVES_AT_ONCE; count++) {
      const batch = this.#receiveOrLose(isSkipped);
      if (batch === undefined) break;
      for (const message of batch) {
        // The listener itself may have ended it with the message before.
        if (signal.aborted) return;
        listener.onMessage(message);
      }
    }
    if (signal.aborted || !this.#hasLost || !this.#isEmpty) return;
    this.#hasLost = false;
    listener.onOverrun();
  }

  /** Like `receive`, but returns an empty buffer for lost events. */
  #receiveOrLose(isSkipped: (portId: number) => boolean): Iterable<NetlinkMessage> | undefined {
    try {
      const batch = this.receive(isSkipped);
      this.#isEmpty = batch === undefined;
      return batch;
    } catch (error) {
      if (!(error instanceof NetlinkError) || !isLoss(error.errno)) throw error;
      this.#hasLost = true;
      return [];
    }
  }

  /** A batch must fit into the socket's buffer as a whole. */
  #makeRoomFor(size: number): void {
    if (size <= ALWAYS_FITS_BYTES) return;
    const needed = size * 2 + 64 * 1024;
    if (needed <= this.#sendBufferBytes) return;
    enlargeBuffer(this.#fd, SEND_BUFFER, needed);
    this.#sendBufferBytes = needed;
  }
}

/** Events that were dropped, or did not fit: either way some are missing. */
function isLoss(errno: number): boolean {
  return errno === ENOBUFS || errno === EMSGSIZE;
}

/**
 * Forcing a size takes CAP_NET_ADMIN over the machine, which root of a user namespace has not. Asking
 * gets at most net.core.rmem_max or wmem_max, without an error.
 */
function enlargeBuffer(fd: number, buffer: typeof SEND_BUFFER, value: number): void {
  const failed = setSocketOption(fd, { level: SOL_SOCKET, name: buffer.forced, value });
  if (failed === undefined) return;
  if (failed.errno !== EPERM) throw new NetlinkError('set an option of a netlink socket', failed);
  setOption(fd, { level: SOL_SOCKET, name: buffer.asked, value });
}

function tooLarge(failed: Failed, bytes: Buffer): { detail: string } | undefined {
  if (failed.errno !== EMSGSIZE) return undefined;
  return { detail: `${bytes.length} bytes exceed the send buffer; raise net.core.wmem_max` };
}

function setOption(fd: number, option: { level: number; name: number; value: number }): void {
  const failed = setSocketOption(fd, option);
  if (failed) throw new NetlinkError('set an option of a netlink socket', failed);
}

function orThrow(result: number | { errno: number }, operation: string): number {
  if (typeof result === 'number') return result;
  throw new NetlinkError(operation, result);
}

/** The kernel fills at most this much at once into an answer. */
const RECEIVE_BYTES = 256 * 1024;

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
