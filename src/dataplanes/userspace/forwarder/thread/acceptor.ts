import { constants } from 'node:os';
import { SOURCE_CLASSES, type SourceClass } from '../../../../forwarding/model.ts';
import type { AddressCalls } from '../../../../linux/sockets/address-calls.ts';
import { EPOLLEXCLUSIVE, EPOLLIN } from '../../../../linux/sockets/constants.ts';
import type { Epoll } from '../../../../linux/sockets/epoll.ts';
import { SocketError } from '../../../../linux/sockets/errors.ts';
import { close } from '../../../../linux/sockets/libc.ts';
import { listenerPort } from '../../../../linux/sockets/listener.ts';
import type { SocketOptions } from '../../../../linux/sockets/options.ts';
import {
  decodeSocketAddress,
  IPV4_OFFSET,
  IPV6_OFFSET,
} from '../../../../linux/sockets/socket-address.ts';
import type { ThreadStart } from '../messages.ts';
import { COUNT } from '../slots.ts';
import type { Counts } from './counts.ts';
import { type Frontends, ipv4Of } from './frontends.ts';
import { Pair } from './pair.ts';

/** At a listener in one iteration, so that accepting does not starve copying. */
const MOST_AT_ONCE = 32;
/** After running out of descriptors; one that another thread closes is not reported here. */
const NO_DESCRIPTORS_MS = 100;
const COUNT_FIELDS = { toEndpoint: COUNT.bytesToEndpoint, toClient: COUNT.bytesToClient };
const { EAGAIN, EBADF, EINVAL, ENOTSOCK, EMFILE, ENFILE, ENOBUFS, ENOMEM } = constants.errno;

interface Listening {
  readonly fd: number;
  readonly port: number;
  readonly isIPv6: boolean;
  readonly source: SourceClass;
  readonly sourceIndex: number;
  /** How many are accepted at once, by how many waited last: asking in vain costs a call. */
  burst: number;
}

interface AcceptorParts {
  readonly epoll: Epoll;
  readonly calls: AddressCalls;
  readonly options: SocketOptions;
  readonly counts: Counts;
  readonly frontends: Frontends;
  readonly clock: () => number;
  readonly mostConnections: number;
  readonly openCount: () => number;
  readonly onPair: (pair: Pair) => void;
  /** A frontend that was not asked for yet. */
  readonly onUnknown: (pair: Pair) => void;
}

/** Accepts connections from the listeners that all threads share. */
export class Acceptor {
  readonly #of: AcceptorParts;
  readonly #listeners: ReadonlyMap<number, Listening>;
  #isListening = false;
  #isWanted: boolean;
  #pausedUntilMs = 0;

  constructor(of: AcceptorParts, start: Pick<ThreadStart, 'listeners' | 'accepts'>) {
    this.#of = of;
    this.#isWanted = start.accepts;
    this.#listeners = new Map(
      start.listeners.map(({ fd, source, isIPv6 }) => {
        const sourceIndex = SOURCE_CLASSES.indexOf(source);
        return [fd, { fd, port: listenerPort(fd), isIPv6, source, sourceIndex, burst: 1 }];
      }),
    );
  }

  /** False: not one of the listeners. */
  onEvent(fd: number): boolean {
    const listener = this.#listeners.get(fd);
    if (listener === undefined) return false;
    const most = listener.burst;
    let count = 0;
    while (count < most && this.#isListening && this.#accept(listener)) count++;
    listener.burst = count === most ? Math.min(most * 2, MOST_AT_ONCE) : Math.max(count, 1);
    return true;
  }

  /** Accepts what is in the queues, if asked to stop: connections there were promised an answer. */
  setWanted(isWanted: boolean): void {
    if (!isWanted && this.#isListening) {
      for (const listener of this.#listeners.values()) while (this.#accept(listener));
    }
    this.#isWanted = isWanted;
    this.refresh(this.#of.clock());
  }

  pause(): void {
    this.#pausedUntilMs = this.#of.clock() + NO_DESCRIPTORS_MS;
    this.#setListening(false);
  }

  isPaused(nowMs: number): boolean {
    return nowMs < this.#pausedUntilMs;
  }

  /** How long epoll may wait before `refresh` must be called. */
  timeoutMs(nowMs: number): number {
    if (!this.isPaused(nowMs)) return Number.POSITIVE_INFINITY;
    return Math.ceil(this.#pausedUntilMs - nowMs);
  }

  /** Listens or not, as it should. */
  refresh(nowMs: number): void {
    const { openCount, mostConnections } = this.#of;
    const hasRoom = openCount() < mostConnections && !this.isPaused(nowMs);
    this.#setListening(this.#isWanted && hasRoom);
  }

  #setListening(isListening: boolean): void {
    if (isListening === this.#isListening) return;
    this.#isListening = isListening;
    for (const { fd } of this.#listeners.values()) {
      // Level-triggered: what is not accepted now is reported again.
      const { epoll } = this.#of;
      const failed = isListening ? epoll.add(fd, EPOLLIN | EPOLLEXCLUSIVE, 0) : epoll.remove(fd);
      if (failed !== 0) throw new SocketError('watch a listener', failed);
    }
  }

  /** False: nothing is left to accept. */
  #accept(listener: Listening): boolean {
    const { calls, counts, openCount, mostConnections } = this.#of;
    if (openCount() >= mostConnections) {
      this.#setListening(false);
      return false;
    }
    const fd = calls.accept(listener.fd);
    if (fd < 0) return this.#onAcceptError(-fd);
    counts.addOfThread('accepted');
    if (calls.originalDestination(fd, listener.isIPv6) < 0 || this.#isDirect(listener, fd)) {
      this.#of.options.resetOnClose(fd);
      close(fd);
    } else this.#begin(listener, fd);
    return true;
  }

  #begin(listener: Listening, clientFd: number): void {
    const { calls, frontends, clock, onPair, onUnknown } = this.#of;
    const { isIPv6, sourceIndex, source } = listener;
    const known = frontends.find(calls.address, isIPv6, sourceIndex);
    const frontend = known ?? frontends.add({ ...decodeSocketAddress(calls.address), source });
    const { peer } = calls;
    const pair = new Pair({
      clientFd,
      isIPv6,
      clientIPv4: isIPv6 ? 0 : ipv4Of(peer, IPV4_OFFSET),
      clientIPv6: isIPv6 ? peer.toString('latin1', IPV6_OFFSET, IPV6_OFFSET + 16) : '',
      clientPort: ((peer[2] as number) << 8) | (peer[3] as number),
      frontend,
      openedAtMs: clock(),
      countFields: COUNT_FIELDS,
    });
    if (known === undefined) onUnknown(pair);
    else onPair(pair);
  }

  /** The listener's own address was the destination: nothing was translated. */
  #isDirect(listener: Listening, fd: number): boolean {
    const { calls } = this.#of;
    const { address } = calls;
    if ((((address[2] as number) << 8) | (address[3] as number)) !== listener.port) return false;
    const length = listener.isIPv6 ? IPV6_OFFSET + 16 : IPV4_OFFSET + 4;
    const wanted = address.toString('latin1', 0, length);
    if (calls.ownAddress(fd) < 0 || address.toString('latin1', 0, length) === wanted) return true;
    // A Service has the listener's port by chance; its address is needed again.
    return calls.originalDestination(fd, listener.isIPv6) < 0;
  }

  #onAcceptError(failed: number): boolean {
    if (failed === EAGAIN) return false;
    if (failed === EMFILE || failed === ENFILE || failed === ENOBUFS || failed === ENOMEM) {
      this.pause();
      return false;
    }
    if (failed === EBADF || failed === EINVAL || failed === ENOTSOCK) {
      throw new SocketError('accept a connection', failed);
    }
    // That connection failed in the queue, and others may be behind it.
    return true;
  }
}
