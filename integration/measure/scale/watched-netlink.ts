import { type Netlink, openNetlink } from '../../../src/linux/netlink/netlink-socket.ts';
import {
  NETLINK_NETFILTER,
  NFNLGRP_NFTABLES,
} from '../../../src/linux/nftables/nftables-protocol.ts';

/** As `fairlead run` has it. */
const EVENT_BUFFER_BYTES = 16 * 1024 * 1024;

export interface SendWatch {
  readonly onSend?: (bytes: Buffer) => void;
  readonly onSent?: () => void;
}

/** The sockets that a plane opens, as the program opens them, with an observer of what is sent. */
export function watchedSockets(watch: SendWatch): (kind: 'requests' | 'events') => Netlink {
  return (kind) => {
    if (kind === 'events') {
      return openNetlink({
        protocol: NETLINK_NETFILTER,
        groups: [NFNLGRP_NFTABLES],
        receiveBufferBytes: EVENT_BUFFER_BYTES,
      });
    }
    return watched(openNetlink({ protocol: NETLINK_NETFILTER }), watch);
  };
}

function watched(netlink: Netlink, { onSend, onSent }: SendWatch): Netlink {
  return {
    portId: netlink.portId,
    send: async (bytes) => {
      onSend?.(bytes);
      await netlink.send(bytes);
      onSent?.();
    },
    receive: () => netlink.receive(),
    listen: (listener, signal) => netlink.listen(listener, signal),
    [Symbol.dispose]: () => netlink[Symbol.dispose](),
  };
}
