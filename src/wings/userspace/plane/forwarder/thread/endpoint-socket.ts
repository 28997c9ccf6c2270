import { constants } from 'node:os';
import {
  type FixedMemory,
  fixedMemory,
  fixedMemoryOf,
} from '../../../../../linux/sockets/fixed-memory.ts';
import {
  IPV4_OFFSET,
  IPV6_OFFSET,
  MOST_SOCKET_ADDRESS_BYTES,
  SOCKET_ADDRESS_BYTES,
} from '../../../../../linux/sockets/socket-address.ts';
import {
  AF_INET,
  AF_INET6,
  IP_TTL,
  IPV6_UNICAST_HOPS,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_IP,
  SOL_IPV6,
  SOL_TCP,
  TCP_NODELAY,
} from '../../../../../linux/sockets/socket-constants.ts';
import { close, connect, errno, socket } from '../../../../../linux/sockets/socket-libc.ts';
import type { SocketOptions } from '../../../../../linux/sockets/socket-options.ts';
import { setTransparent } from '../../../../../linux/sockets/transparent.ts';
import { type Ports, SourceBinder } from '../../../../../linux/userspace/source-ports.ts';
import { keyOfSocketAddress, writeAddress } from '../address-key.ts';
import type { AddressKey } from '../row-memory.ts';
import { ADDRESS_BYTES } from '../slots.ts';
import type { Pair } from './pair.ts';

const TYPE = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
const HOP_LIMIT = {
  IPv4: { level: SOL_IP, name: IP_TTL },
  IPv6: { level: SOL_IPV6, name: IPV6_UNICAST_HOPS },
} as const;
const NODELAY = { level: SOL_TCP, name: TCP_NODELAY };
/** Ports in use towards the endpoint, which `connect` finds out. */
const MOST_PORTS = 64;
const { EADDRNOTAVAIL, EINPROGRESS, EPERM } = constants.errno;

/** Opens sockets to endpoints, whose addresses stay as they are while a connection counts in the slot. */
export class EndpointSockets {
  readonly #options: SocketOptions;
  readonly #addresses: FixedMemory;
  readonly #binder: SourceBinder;
  readonly #source = fixedMemory(MOST_SOCKET_ADDRESS_BYTES);
  #mayBeTransparent = true;

  constructor(options: SocketOptions, addresses: SharedArrayBuffer, ports: Ports) {
    this.#options = options;
    this.#addresses = fixedMemoryOf(addresses);
    this.#binder = new SourceBinder(options, ports);
  }

  keyOf(slot: number, isIPv6: boolean): AddressKey {
    const at = slot * ADDRESS_BYTES;
    return keyOfSocketAddress(this.#addresses.bytes.subarray(at, at + ADDRESS_BYTES), isIPv6);
  }

  /**
   * A socket that connects, or -errno. EADDRNOTAVAIL: every port towards the endpoint is in use,
   * also by connections that ended a moment ago (TIME_WAIT).
   */
  connect(pair: Pair, slot: number, keepsClient: boolean): number {
    for (let tried = 1; ; tried++) {
      const fd = socket(pair.isIPv6 ? AF_INET6 : AF_INET, TYPE, 0);
      if (fd < 0) return -errno();
      const failed = this.#prepare(fd, pair, keepsClient) || this.#begin(fd, slot, pair.isIPv6);
      if (failed === 0) return fd;
      close(fd);
      if (failed !== EADDRNOTAVAIL || tried === MOST_PORTS) return -failed;
    }
  }

  #prepare(fd: number, pair: Pair, keepsClient: boolean): number {
    this.#options.setNumber(fd, NODELAY, 1);
    this.#options.setNumber(fd, pair.isIPv6 ? HOP_LIMIT.IPv6 : HOP_LIMIT.IPv4, pair.hopLimit);
    const isTransparent = this.#mayBeTransparent && this.#setTransparent(fd, pair.isIPv6);
    const length = this.#writeSource(pair, isTransparent && keepsClient);
    return this.#binder.bind(fd, this.#source, length);
  }

  #setTransparent(fd: number, isIPv6: boolean): boolean {
    const failed = setTransparent(this.#options, fd, isIPv6);
    if (failed === EPERM) this.#mayBeTransparent = false;
    return failed === 0;
  }

  /** Without the client's address the kernel chooses one of this machine. */
  #writeSource(pair: Pair, keepsClient: boolean): number {
    const { bytes } = this.#source;
    const family = pair.isIPv6 ? 'IPv6' : 'IPv4';
    bytes.fill(0);
    bytes.writeUInt16LE(pair.isIPv6 ? AF_INET6 : AF_INET, 0);
    if (keepsClient) writeAddress(pair.client, bytes, pair.isIPv6 ? IPV6_OFFSET : IPV4_OFFSET);
    return SOCKET_ADDRESS_BYTES[family];
  }

  #begin(fd: number, slot: number, isIPv6: boolean): number {
    const length = SOCKET_ADDRESS_BYTES[isIPv6 ? 'IPv6' : 'IPv4'];
    if (connect(fd, this.#addresses.address + slot * ADDRESS_BYTES, length) === 0) return 0;
    const failed = errno();
    return failed === EINPROGRESS ? 0 : failed;
  }
}
