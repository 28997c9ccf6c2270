import { constants } from 'node:os';
import {
  IP_TRANSPARENT,
  IPV6_TRANSPARENT,
  SO_REUSEADDR,
  SOL_IP,
  SOL_IPV6,
  SOL_SOCKET,
} from './constants.ts';
import type { FixedMemory } from './fixed-memory.ts';
import { bind, errno } from './libc.ts';
import type { SocketOptions } from './options.ts';

/**
 * Ports of connections with the client's address: pods do not use them by default. The kernel
 * cannot choose them: IP_LOCAL_PORT_RANGE only narrows net.ipv4.ip_local_port_range.
 */
export const KEPT_PORTS = { first: 10_240, last: 32_767 } as const;
const PORT_COUNT = KEPT_PORTS.last - KEPT_PORTS.first + 1;
/** In a socket address of either family. */
const PORT_AT = 2;
const MOST_PORT_TRIES = 16;
const { EADDRINUSE } = constants.errno;

/**
 * Marks the socket as the forwarder's own, and lets it use any source address. Returns 0 or the
 * errno: EPERM without CAP_NET_ADMIN.
 */
export function setTransparent(options: SocketOptions, fd: number, isIPv6: boolean): number {
  const option = isIPv6
    ? { level: SOL_IPV6, name: IPV6_TRANSPARENT }
    : { level: SOL_IP, name: IP_TRANSPARENT };
  return options.setNumber(fd, option, 1);
}

/** Binds transparent sockets to addresses that need not be of this machine. */
export class SourceBinder {
  readonly #options: SocketOptions;
  /** One after the other, so that a port rests as long as possible. */
  #next = Math.floor(Math.random() * PORT_COUNT);

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /**
   * With one of KEPT_PORTS. `source` holds the socket address; its port is overwritten. Returns 0
   * or the errno. The port may be in use towards another destination: then `connect` succeeds, and
   * fails with EADDRNOTAVAIL if it is in use towards the same one.
   */
  bind(fd: number, source: FixedMemory, length: number): number {
    this.#options.setNumber(fd, { level: SOL_SOCKET, name: SO_REUSEADDR }, 1);
    for (let tried = 1; ; tried++) {
      this.#next = (this.#next + 1) % PORT_COUNT;
      const port = KEPT_PORTS.first + this.#next;
      source.bytes[PORT_AT] = port >> 8;
      source.bytes[PORT_AT + 1] = port & 0xff;
      if (bind(fd, source.address, length) === 0) return 0;
      const failed = errno();
      // A listener of this machine at all addresses has the port.
      if (failed !== EADDRINUSE || tried === MOST_PORT_TRIES) return failed;
    }
  }
}
