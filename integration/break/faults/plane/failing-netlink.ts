import { constants } from 'node:os';
import { NetlinkError } from '../../../../src/linux/netlink/netlink-error.ts';
import type { Netlink } from '../../../../src/linux/netlink/netlink-socket.ts';
import type { Failures } from './failures.ts';

const { ENOBUFS } = constants.errno;

/** Lets calls fail at random, on the way there and on the way back. */
export class NetlinkFailures implements Failures {
  readonly #share: number;
  callCount = 0;
  failedCount = 0;

  constructor(share: number) {
    this.#share = share;
  }

  open(open: () => Netlink): Netlink {
    this.#call('open');
    return this.#wrap(open());
  }

  /** A failed send has sent nothing. A failed receive follows a request that the kernel executed. */
  #wrap(netlink: Netlink): Netlink {
    return {
      portId: netlink.portId,
      send: async (bytes) => {
        this.#call('send');
        await netlink.send(bytes);
      },
      receive: () => {
        this.#call('receive');
        return netlink.receive();
      },
      listen: async (listener, signal) => {
        this.#call('listen');
        await netlink.listen(listener, signal);
      },
      [Symbol.dispose]: () => netlink[Symbol.dispose](),
    };
  }

  #call(what: string): void {
    this.callCount++;
    if (Math.random() >= this.#share) return;
    this.failedCount++;
    throw new NetlinkError(what, { errno: ENOBUFS, detail: 'a planted failure' });
  }
}
