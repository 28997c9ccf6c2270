import type { Block } from './blocks.ts';
import { BULK_BYTES } from './bulk-bytes.ts';
import type { Frontend } from './frontends.ts';
import type { List, ListedEndpoint } from './lists.ts';

export const STATE = {
  /** For an answer of the main thread. */
  waiting: 0,
  dialling: 1,
  open: 2,
  closed: 3,
} as const;

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
  /** When the kernel's buffers are bounded next (bulk.ts). */
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
  /** One of them, by family; the bytes of an IPv6 address as latin1. */
  readonly clientIPv4: number;
  readonly clientIPv6: string;
  readonly clientPort: number;
  readonly frontend: Frontend;
  readonly openedAtMs: number;
  readonly toEndpoint: Stream;
  readonly toClient: Stream;
  /** Text, only of a pair that another process dialled. */
  source = '';
  slot: number = NONE;
  list: List | undefined = undefined;
  endpoint: ListedEndpoint | undefined = undefined;
  dialCount = 0;
  dialledAtMs = 0;
  /** Slots that failed for this connection. */
  tried: number[] | undefined = undefined;
  isClientWatched = false;
  /** Number of the question that the main thread was asked. */
  question = 0;

  /** With the pairs before and after it. */
  queue: { remove(pair: Pair): void } | undefined = undefined;
  queuedAtMs = 0;
  before: Pair | undefined = undefined;
  after: Pair | undefined = undefined;

  constructor(of: PairStart) {
    this.isIPv6 = of.isIPv6;
    this.clientIPv4 = of.clientIPv4;
    this.clientIPv6 = of.clientIPv6;
    this.clientPort = of.clientPort;
    this.frontend = of.frontend;
    this.openedAtMs = of.openedAtMs;
    this.toEndpoint = new Stream(this, of.countFields.toEndpoint);
    this.toClient = new Stream(this, of.countFields.toClient);
    this.toEndpoint.from = of.clientFd;
    this.toClient.to = of.clientFd;
  }

  get clientFd(): number {
    return this.toEndpoint.from;
  }

  get endpointFd(): number {
    return this.toClient.from;
  }
}

export interface PairStart {
  readonly clientFd: number;
  readonly isIPv6: boolean;
  readonly clientIPv4: number;
  readonly clientIPv6: string;
  readonly clientPort: number;
  readonly frontend: Frontend;
  readonly openedAtMs: number;
  readonly countFields: { readonly toEndpoint: number; readonly toClient: number };
}
