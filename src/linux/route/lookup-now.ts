import type { IpAddress } from '../../addresses/ip.ts';
import { NetlinkError } from '../netlink/netlink-error.ts';
import {
  bindNetlinkSocket,
  closeDescriptor,
  openNetlinkSocket,
  receiveNow,
  sendNow,
} from '../netlink/netlink-libc.ts';
import { readMessages } from '../netlink/reader.ts';
import { readRouteEvent } from './route-codec.ts';
import { NETLINK_ROUTE } from './route-protocol.ts';
import { lookupQuestion } from './route-requests.ts';

const RECEIVE_BYTES = 16 * 1024;
/** The answer and its acknowledgement, and those of a question that failed half-way. */
const MOST_RECEIVES = 8;

export interface RouteNow {
  readonly linkIndex: number;
  /** An address of this machine. */
  readonly isLocal: boolean;
}

/**
 * Looks up routes inside the call, for a thread that has no event loop: some 10 µs. The kernel has
 * answered when the question is sent.
 */
export class RouteLookup implements Disposable {
  readonly #fd: number;
  readonly #received = Buffer.allocUnsafeSlow(RECEIVE_BYTES);
  #sequence = 0;

  constructor() {
    this.#fd = orThrow(openNetlinkSocket(NETLINK_ROUTE), 'open a netlink socket');
    orThrow(bindNetlinkSocket(this.#fd), 'bind a netlink socket');
  }

  /** Undefined: the address cannot be reached. */
  lookUp(address: IpAddress): RouteNow | undefined {
    this.#sequence += 1;
    const sequence = this.#sequence;
    const failed = sendNow(this.#fd, lookupQuestion(address, { answer: 'path', sequence }).bytes);
    if (failed) throw new NetlinkError('look up a route', failed);
    let found: RouteNow | undefined;
    for (let received = 0; received < MOST_RECEIVES; received++) {
      const length = orThrow(receiveNow(this.#fd, this.#received), 'look up a route');
      if (length === 0) break;
      for (const message of readMessages(this.#received.subarray(0, length))) {
        if (message.sequence !== sequence) continue;
        const route = readRouteEvent(message)?.route;
        const linkIndex = route?.hops[0]?.linkIndex;
        if (route === undefined || linkIndex === undefined) continue;
        found = { linkIndex, isLocal: route.type === 'local' };
      }
    }
    return found;
  }

  [Symbol.dispose](): void {
    closeDescriptor(this.#fd);
  }
}

function orThrow(result: number | { readonly errno: number }, operation: string): number {
  if (typeof result === 'number') return result;
  throw new NetlinkError(operation, result);
}
