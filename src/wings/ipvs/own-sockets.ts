import type { Netlink, NetlinkListener } from '../../linux/netlink/netlink-socket.ts';

type Open = (kind: 'requests' | 'events') => Netlink;

/**
 * Opens netlink sockets for two planes that both listen to nftables. An event socket skips what any
 * request socket of the two has written: at a start each plane would otherwise decode hundreds of
 * thousands of elements of the other one.
 */
export function openOwnSockets(open: Open): Open {
  const ports = new Set<number>();
  return (kind) => {
    const netlink = open(kind);
    if (kind === 'events') return listening(netlink, ports);
    ports.add(netlink.portId);
    return {
      portId: netlink.portId,
      send: (bytes) => netlink.send(bytes),
      receive: () => netlink.receive(),
      listen: (listener, signal) => netlink.listen(listener, signal),
      [Symbol.dispose]: () => {
        // Another process may get the number.
        ports.delete(netlink.portId);
        netlink[Symbol.dispose]();
      },
    };
  };
}

function listening(netlink: Netlink, ports: ReadonlySet<number>): Netlink {
  const skipping = (listener: NetlinkListener): NetlinkListener => ({
    onMessage: (message) => listener.onMessage(message),
    onOverrun: () => listener.onOverrun(),
    isSkipped: (portId) => ports.has(portId) || (listener.isSkipped?.(portId) ?? false),
  });
  return {
    portId: netlink.portId,
    send: (bytes) => netlink.send(bytes),
    receive: () => netlink.receive(),
    listen: (listener, signal) => netlink.listen(skipping(listener), signal),
    [Symbol.dispose]: () => netlink[Symbol.dispose](),
  };
}
