import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { FixedMemory } from '../sockets/fixed-memory.ts';
import { SO_REUSEADDR, SOL_SOCKET } from '../sockets/socket-constants.ts';
import { bind, errno } from '../sockets/socket-libc.ts';
import type { SocketOptions } from '../sockets/socket-options.ts';

/** From the first to the last, both included. */
export interface Ports {
  readonly first: number;
  readonly last: number;
}

/**
 * Ports of the forwarder's connections, which neither pods nor the node's own sockets use by
 * default. Where the kernel translates a connection of the node to the same endpoint, the answer
 * would reach a socket of the forwarder that has the port: the kernel looks for sockets before it
 * translates back. The kernel cannot choose them: IP_LOCAL_PORT_RANGE only narrows
 * net.ipv4.ip_local_port_range.
 */
export const KEPT_PORTS: Ports = { first: 10_240, last: 32_767 };
/** Fewer would limit the connections to one endpoint. */
const FEWEST_PORTS = 4_096;
/** In a socket address of either family. */
const PORT_AT = 2;
const MOST_PORT_TRIES = 16;
const { EADDRINUSE } = constants.errno;

/** KEPT_PORTS but for those that the kernel chooses for others, if enough are left. */
export function portsBeside(local: Ports): Ports {
  const below = { first: KEPT_PORTS.first, last: Math.min(KEPT_PORTS.last, local.first - 1) };
  const above = { first: Math.max(KEPT_PORTS.first, local.last + 1), last: KEPT_PORTS.last };
  const larger = countOf(below) >= countOf(above) ? below : above;
  return countOf(larger) >= FEWEST_PORTS ? larger : KEPT_PORTS;
}

function countOf({ first, last }: Ports): number {
  return last - first + 1;
}

/** Of this network namespace. */
export function readLocalPorts(): Ports {
  const text = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const [first = 0, last = 0] = text.trim().split(/\s+/).map(Number);
  return { first, last };
}

/** Binds sockets; transparent ones also to addresses that are not of this machine. */
export class SourceBinder {
  readonly #options: SocketOptions;
  readonly #ports: Ports;
  /** One after the other, so that a port rests as long as possible. */
  #next: number;

  constructor(options: SocketOptions, ports: Ports) {
    this.#options = options;
    this.#ports = ports;
    this.#next = ports.first + Math.floor(Math.random() * (ports.last - ports.first + 1));
  }

  /**
   * With one of its ports. `source` holds the socket address; its port is overwritten. Returns 0
   * or the errno. The port may be in use towards another destination: then `connect` succeeds, and
   * fails with EADDRNOTAVAIL if it is in use towards the same one.
   */
  bind(fd: number, source: FixedMemory, length: number): number {
    this.#options.setNumber(fd, { level: SOL_SOCKET, name: SO_REUSEADDR }, 1);
    for (let tried = 1; ; tried++) {
      const port = this.#next;
      this.#next = port === this.#ports.last ? this.#ports.first : port + 1;
      source.bytes[PORT_AT] = port >> 8;
      source.bytes[PORT_AT + 1] = port & 0xff;
      if (bind(fd, source.address, length) === 0) return 0;
      const failed = errno();
      // A listener of this machine at all addresses has the port.
      if (failed !== EADDRINUSE || tried === MOST_PORT_TRIES) return failed;
    }
  }
}
