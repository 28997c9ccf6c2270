import { close } from '../../../../../linux/sockets/socket-libc.ts';
import type { SocketOptions } from '../../../../../linux/sockets/socket-options.ts';
import type { Blocks } from './blocks.ts';
import { NONE, type Pair, STATE, type Stream } from './pair.ts';
import type { SocketTable } from './socket-table.ts';
import type { Counts } from './thread-counts.ts';

interface EndingParts {
  readonly sockets: SocketTable;
  readonly options: SocketOptions;
  readonly counts: Counts;
  readonly blocks: Blocks;
}

/** All pairs of the thread, and how they end. */
export class Endings {
  readonly #pairs = new Set<Pair>();
  readonly #of: EndingParts;

  constructor(parts: EndingParts) {
    this.#of = parts;
  }

  /** In the order in which they were opened. */
  get pairs(): ReadonlySet<Pair> {
    return this.#pairs;
  }

  begin(pair: Pair): void {
    this.#pairs.add(pair);
    this.#of.counts.changeConnections(1);
  }

  /** What one side broke off, or what cannot go on, is reset on both sides. */
  reset(pair: Pair): void {
    if (pair.state === STATE.closed) return;
    this.#of.options.resetOnClose(pair.clientFd);
    if (pair.endpointFd !== NONE) this.#of.options.resetOnClose(pair.endpointFd);
    this.close(pair);
  }

  close(pair: Pair): void {
    if (pair.state === STATE.closed) return;
    this.forget(pair);
    if (pair.endpointFd !== NONE) close(pair.endpointFd);
    close(pair.clientFd);
  }

  /** Without closing its sockets. */
  forget(pair: Pair): void {
    pair.state = STATE.closed;
    pair.queue?.remove(pair);
    this.#pairs.delete(pair);
    this.#of.counts.changeConnections(-1);
    this.#release(pair.toEndpoint);
    this.#release(pair.toClient);
    if (pair.endpointFd !== NONE) this.#of.sockets.forget(pair.toClient);
    this.#of.sockets.forget(pair.toEndpoint);
    if (pair.slot !== NONE) this.#of.counts.changeOpen(pair.slot, -1);
    pair.slot = NONE;
  }

  #release(stream: Stream): void {
    if (stream.rest !== undefined) this.#of.blocks.release(stream.rest);
    stream.rest = undefined;
  }
}
