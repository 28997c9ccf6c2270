import { constants } from 'node:os';
import { SOURCE_CLASSES } from '../../../../../forwarding/model.ts';
import type { AddressCalls } from '../../../../../linux/sockets/address-calls.ts';
import { listenerPort } from '../../../../../linux/sockets/listener.ts';
import { IPV4_OFFSET, IPV6_OFFSET } from '../../../../../linux/sockets/socket-address.ts';
import {
  EPOLLEXCLUSIVE,
  EPOLLIN,
  IP_MULTICAST_TTL,
  IPV6_MULTICAST_HOPS,
  SOL_IP,
  SOL_IPV6,
} from '../../../../../linux/sockets/socket-constants.ts';
import { SocketError } from '../../../../../linux/sockets/socket-error.ts';
import { close } from '../../../../../linux/sockets/socket-libc.ts';
import type { SocketOptions } from '../../../../../linux/sockets/socket-options.ts';
import type { Epoll } from '../../../../../linux/userspace/epoll.ts';
import { isNoRoom } from '../../../../../linux/userspace/no-room.ts';
import { keyOfSocketAddress } from '../address-key.ts';
import type { ThreadStart } from '../thread-messages.ts';
import { Pair } from './pair.ts';
import type { Counts } from './thread-counts.ts';

/** At a listener in one iteration, so that accepting does not starve copying. */
const MOST_AT_ONCE = 32;
/** After running out of descriptors or watches; what others free is not reported here. */
const NO_ROOM_MS = 100;
/** What the kernel gives packets by default, and the most hops of a connection that runs in circles. */
const MOST_HOPS = 64;
/** On an accepted socket these are the hops that the client's packet had left: the kernel notes them there. */
const HOPS_LEFT = {
  IPv4: { level: SOL_IP, name: IP_MULTICAST_TTL },
  IPv6: { level: SOL_IPV6, name: IPV6_MULTICAST_HOPS },
} as const;
const { EAGAIN, EBADF, EINVAL, ENOENT, ENOTSOCK } = constants.errno;

interface Listening {
  readonly fd: number;
  readonly port: number;
  readonly isIPv6: boolean;
  /** The index of its source class. */
  readonly source: number;
  /** How many are accepted at once, by how many waited last: asking in vain costs a call. */
  burst: number;
}

interface AcceptorParts {
  readonly epoll: Epoll;
  readonly calls: AddressCalls;
  readonly options: SocketOptions;
  readonly counts: Counts;
  readonly clock: () => number;
  readonly onPair: (pair: Pair) => void;
}

/** Accepts connections from the listeners that all threads share. */
export class Acceptor {
  readonly #of: AcceptorParts;
  readonly #listeners: ReadonlyMap<number, Listening>;
  readonly #mostConnections: number;
  #isListening = false;
  #isWanted = false;
  #pausedUntilMs = 0;
  #hadRoom = true;

  constructor(parts: AcceptorParts, start: Pick<ThreadStart, 'listeners' | 'mostConnections'>) {
    this.#of = parts;
    this.#mostConnections = start.mostConnections;
    this.#listeners = new Map(
      start.listeners.map(({ fd, source: name, isIPv6 }) => {
        const source = SOURCE_CLASSES.indexOf(name);
        return [fd, { fd, port: listenerPort(fd), isIPv6, source, burst: 1 }];
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

  /** There is no room for what was accepted last. */
  pause(): void {
    this.#hadRoom = false;
    this.#pausedUntilMs = this.#of.clock() + NO_ROOM_MS;
    this.#setListening(false);
  }

  /** Whether there was room for everything since the last call. */
  takeHadRoom(): boolean {
    const hadRoom = this.#hadRoom;
    this.#hadRoom = true;
    return hadRoom;
  }

  /** How long epoll may wait before `refresh` must be called. */
  timeoutMs(nowMs: number): number {
    if (nowMs >= this.#pausedUntilMs) return Number.POSITIVE_INFINITY;
    return Math.ceil(this.#pausedUntilMs - nowMs);
  }

  /** Listens or not, as it should. */
  refresh(nowMs: number): void {
    this.#setListening(this.#isWanted && nowMs >= this.#pausedUntilMs);
  }

  #setListening(isListening: boolean): void {
    if (isListening === this.#isListening) return;
    this.#isListening = isListening;
    for (const { fd } of this.#listeners.values()) {
      // Level-triggered: what is not accepted now is reported again.
      const { epoll } = this.#of;
      const failed = isListening ? epoll.add(fd, EPOLLIN | EPOLLEXCLUSIVE, 0) : epoll.remove(fd);
      if (failed === 0 || (!isListening && failed === ENOENT)) continue;
      if (!isNoRoom(failed)) throw new SocketError('watch a listener', failed);
      this.pause();
      return;
    }
  }

  /**
   * False: nothing is left to accept. Connections for which there is no room are reset: their
   * clients believe to be connected, and would wait for an answer that nobody sends.
   */
  #accept(listener: Listening): boolean {
    const { calls, counts, options } = this.#of;
    const fd = calls.accept(listener.fd);
    if (fd < 0) return this.#onAcceptError(-fd);
    counts.addOfThread('accepted');
    const isFull = counts.connections >= this.#mostConnections;
    const hopLimit = Math.min(this.#hopsLeft(fd, listener.isIPv6), MOST_HOPS + 1) - 1;
    if (isFull || hopLimit <= 0) counts.addOfThread('failed');
    if (isFull) this.#hadRoom = false;
    const isServed = !isFull && hopLimit > 0 && calls.originalDestination(fd, listener.isIPv6) >= 0;
    if (isServed && !this.#isDirect(listener, fd)) this.#begin(listener, fd, hopLimit);
    else {
      options.resetOnClose(fd);
      close(fd);
    }
    return true;
  }

  /**
   * An endpoint may be an address of a Service again, on this node or another one. As a router does,
   * each forwarder passes on one hop less, or one connection would become as many as fit.
   */
  #hopsLeft(fd: number, isIPv6: boolean): number {
    const found = this.#of.options.getNumber(fd, isIPv6 ? HOPS_LEFT.IPv6 : HOPS_LEFT.IPv4);
    return found < 0 ? MOST_HOPS + 1 : found;
  }

  #begin({ isIPv6, source }: Listening, clientFd: number, hopLimit: number): void {
    const { calls, clock, onPair } = this.#of;
    const frontend = keyOfSocketAddress(calls.address, isIPv6);
    const client = keyOfSocketAddress(calls.peer, isIPv6);
    onPair(new Pair({ clientFd, client, frontend, source, hopLimit, openedAtMs: clock() }));
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
    if (isNoRoom(failed)) {
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
