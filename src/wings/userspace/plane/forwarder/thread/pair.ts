import { type AddressKey, IPV6 } from '../row-memory.ts';
import { COUNT } from '../slots.ts';
import type { Block } from './blocks.ts';

export const STATE = {
  /** For an answer of the main thread. */
  waiting: 0,
  dialling: 1,
  open: 2,
  closed: 3,
} as const;

/**
 * From so many bytes on a stream's buffers are bounded: short connections pay for no option. Until
 * then no more is received at once: one large read makes the kernel grow the receive buffer to a
 * megabyte and offer all of it to the sender.
 */
export const BULK_BYTES = 16 * 1024;

/** No descriptor, or no slot. */
export const NONE = -1;

/** One direction of a pair: what is received from one socket and sent to the other. */
export class Stream {
  readonly pair: Pair;
  /** Field of the slot in `counts`. */
  readonly countField: number;
  from = NONE;
  to = NONE;
  /** Of `from` in epoll: an event with another one is about a socket before. */
  tag = 0;
  /** Received and not sent yet; nothing more is received meanwhile. */
  rest: Block | undefined = undefined;
  restAt = 0;
  restEnd = 0;
  byteCount = 0;
  /** The end was announced: read on after a short read, because no event will follow. */
  isEnding = false;
  hasEnded = false;
  hasPassedEnd = false;
  /** The rest, or the next read, is due in the next iteration. */
  isDue = false;
  /** When the kernel's buffers are bounded next (copier.ts). */
  boundAtBytes = BULK_BYTES;

  constructor(pair: Pair, countField: number) {
    this.pair = pair;
    this.countField = countField;
  }
}

/** A client's connection and the one to its endpoint. */
export class Pair {
  state: number = STATE.waiting;
  readonly isIPv6: boolean;
  readonly client: AddressKey;
  /** Original destination, and the source class of the client as an index. */
  readonly frontend: AddressKey;
  readonly source: number;
  readonly openedAtMs: number;
  /** Hops that packets to the endpoint may take. */
  readonly hopLimit: number;
  readonly toEndpoint: Stream;
  readonly toClient: Stream;
  /** Text, only of a pair that another process dialled. */
  ownAddress = '';
  slot: number = NONE;
  masquerade = true;
  dialCount = 0;
  dialledAtMs = 0;
  /** Slots that failed for this connection. */
  tried: number[] | undefined = undefined;
  isClientWatched = false;
  /** Number of the question that the main thread was asked. */
  question = 0;
  /** Bytes of both streams when it was last looked at whether they move. */
  seenByteCount = 0;

  /** With the pairs before and after it. */
  queue: { remove(pair: Pair): void } | undefined = undefined;
  queuedAtMs = 0;
  before: Pair | undefined = undefined;
  after: Pair | undefined = undefined;

  constructor(start: PairStart) {
    this.isIPv6 = (start.client.meta & IPV6) !== 0;
    this.client = start.client;
    this.frontend = start.frontend;
    this.source = start.source;
    this.openedAtMs = start.openedAtMs;
    this.hopLimit = start.hopLimit;
    this.toEndpoint = new Stream(this, COUNT.bytesToEndpoint);
    this.toClient = new Stream(this, COUNT.bytesToClient);
    this.toEndpoint.from = start.clientFd;
    this.toClient.to = start.clientFd;
  }

  get clientFd(): number {
    return this.toEndpoint.from;
  }

  get endpointFd(): number {
    return this.toClient.from;
  }

  get byteCount(): number {
    return this.toEndpoint.byteCount + this.toClient.byteCount;
  }
}

export interface PairStart {
  readonly clientFd: number;
  readonly client: AddressKey;
  readonly frontend: AddressKey;
  readonly source: number;
  readonly openedAtMs: number;
  readonly hopLimit: number;
}
