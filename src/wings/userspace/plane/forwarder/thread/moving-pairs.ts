import type { AddressCalls } from '../../../../../linux/sockets/address-calls.ts';
import { setKeepalive } from '../../../../../linux/sockets/keepalive.ts';
import { close } from '../../../../../linux/sockets/socket-libc.ts';
import type { SocketOptions } from '../../../../../linux/sockets/socket-options.ts';
import { keyOfText } from '../address-key.ts';
import type { MovedPair } from '../thread-messages.ts';
import { described } from './connection-list.ts';
import type { Endings } from './endings.ts';
import { Pair, STATE } from './pair.ts';
import type { SocketTable } from './socket-table.ts';
import type { Counts } from './thread-counts.ts';

interface MovingParts {
  readonly sockets: SocketTable;
  readonly endings: Endings;
  readonly counts: Counts;
  readonly calls: AddressCalls;
  readonly options: SocketOptions;
}

/** Gives open pairs to another process, and takes those of another one. */
export class MovingPairs {
  readonly #of: MovingParts;
  /** Given, and not known to be taken yet: open, but not watched. */
  #given: readonly MovedPair[] = [];

  constructor(parts: MovingParts) {
    this.#of = parts;
  }

  /** Every open pair without a byte in hand. Bytes that arrive meanwhile wait in the kernel. */
  give(): readonly MovedPair[] {
    const { sockets, endings, calls } = this.#of;
    const movable = [...endings.pairs].filter(canMove);
    this.#given = [
      ...this.#given,
      ...movable.map((pair) => {
        const moved = {
          ...described(pair, calls),
          clientFd: pair.clientFd,
          endpointFd: pair.endpointFd,
          isClientEnding: pair.toEndpoint.isEnding,
          isEndpointEnding: pair.toClient.isEnding,
        };
        // A copy in another process would keep a closed socket in our epoll.
        sockets.unwatch(pair.toEndpoint);
        sockets.unwatch(pair.toClient);
        endings.forget(pair);
        return moved;
      }),
    ];
    return this.#given;
  }

  settle(isTaken: boolean): void {
    const given = this.#given;
    this.#given = [];
    if (!isTaken) {
      this.take(given);
      return;
    }
    for (const { clientFd, endpointFd } of given) {
      close(clientFd);
      close(endpointFd);
    }
  }

  take(pairs: readonly MovedPair[]): void {
    for (const moved of pairs) this.#takeOne(moved);
  }

  #takeOne(moved: MovedPair): void {
    const { endings, sockets, counts, options } = this.#of;
    const { clientFd, openedAtMs } = moved;
    const [client, frontend] = [keyOfText(moved.client), keyOfText(moved.frontend)];
    // It is connected: neither its source class nor its hop limit is needed any more.
    const pair = new Pair({ clientFd, client, frontend, openedAtMs, source: 0, hopLimit: 0 });
    pair.state = STATE.open;
    pair.ownAddress = moved.source;
    pair.slot = moved.slot;
    counts.changeOpen(pair.slot, 1);
    pair.toClient.from = moved.endpointFd;
    pair.toEndpoint.to = moved.endpointFd;
    pair.toEndpoint.isEnding = moved.isClientEnding;
    pair.toClient.isEnding = moved.isEndpointEnding;
    pair.toEndpoint.byteCount = moved.bytesToEndpoint;
    pair.toClient.byteCount = moved.bytesToClient;
    endings.begin(pair);
    // It may have been too young for probes where it comes from.
    setKeepalive(options, moved.endpointFd);
    pair.isClientWatched = true;
    // Being added is an event, which tells of what waits.
    if (!sockets.watch(pair.toEndpoint) || !sockets.watch(pair.toClient)) endings.reset(pair);
  }
}

function canMove(pair: Pair): boolean {
  const { state, toEndpoint, toClient } = pair;
  return state === STATE.open && toEndpoint.rest === undefined && toClient.rest === undefined;
}
