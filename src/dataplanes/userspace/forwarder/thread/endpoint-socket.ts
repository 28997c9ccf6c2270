import { constants } from 'node:os';
import {
  AF_INET,
  AF_INET6,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_TCP,
  TCP_NODELAY,
} from '../../../../linux/sockets/constants.ts';
import { fixedMemory } from '../../../../linux/sockets/fixed-memory.ts';
import { close, connect, errno, socket } from '../../../../linux/sockets/libc.ts';
import type { SocketOptions } from '../../../../linux/sockets/options.ts';
import {
  IPV4_OFFSET,
  IPV6_OFFSET,
  MOST_SOCKET_ADDRESS_BYTES,
  SOCKET_ADDRESS_BYTES,
} from '../../../../linux/sockets/socket-address.ts';
import { SourceBinder, setTransparent } from '../../../../linux/sockets/transparent.ts';
import type { ListedEndpoint } from './lists.ts';
import type { Pair } from './pair.ts';

const TYPE = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
const NODELAY = { level: SOL_TCP, name: TCP_NODELAY };
/** Sources whose port is in use towards the endpoint, which `connect` finds out. */
const MOST_PORTS = 4;
const { EADDRNOTAVAIL, EINPROGRESS, EPERM } = constants.errno;

/** Opens sockets to endpoints. */
export class EndpointSockets {
  readonly #options: SocketOptions;
  readonly #binder: SourceBinder;
  readonly #source = fixedMemory(MOST_SOCKET_ADDRESS_BYTES);
  #mayBeTransparent = true;

  constructor(options: SocketOptions) {
    this.#options = options;
    this.#binder = new SourceBinder(options);
  }

  /**
   * A socket that connects, or -errno. EADDRNOTAVAIL: every port towards the endpoint is in use,
   * also by connections that ended a moment ago (TIME_WAIT).
   */
  connect(pair: Pair, to: ListedEndpoint, keepsClient: boolean): number {
    for (let tried = 1; ; tried++) {
      const fd = socket(pair.isIPv6 ? AF_INET6 : AF_INET, TYPE, 0);
      if (fd < 0) return -errno();
      const failed = this.#prepare(fd, pair, keepsClient) || begin(fd, to);
      if (failed === 0) return fd;
      close(fd);
      const isPortTaken = keepsClient && failed === EADDRNOTAVAIL;
      if (!isPortTaken || tried === MOST_PORTS) return -failed;
    }
  }

  #prepare(fd: number, pair: Pair, keepsClient: boolean): number {
    this.#options.setNumber(fd, NODELAY, 1);
    if (!this.#mayBeTransparent) return 0;
    const failed = setTransparent(this.#options, fd, pair.isIPv6);
    if (failed === EPERM) {
      this.#mayBeTransparent = false;
      return 0;
    }
    if (failed !== 0 || !keepsClient) return failed;
    return this.#binder.bind(fd, this.#source, this.#writeSource(pair));
  }

  #writeSource(pair: Pair): number {
    const { bytes } = this.#source;
    if (pair.isIPv6) {
      bytes.fill(0);
      bytes.writeUInt16LE(AF_INET6, 0);
      bytes.write(pair.clientIPv6, IPV6_OFFSET, 'latin1');
      return SOCKET_ADDRESS_BYTES.IPv6;
    }
    bytes.writeUInt16LE(AF_INET, 0);
    bytes.writeUInt32BE(pair.clientIPv4, IPV4_OFFSET);
    return SOCKET_ADDRESS_BYTES.IPv4;
  }
}

function begin(fd: number, to: ListedEndpoint): number {
  if (connect(fd, to.memory.address, to.length) === 0) return 0;
  const failed = errno();
  return failed === EINPROGRESS ? 0 : failed;
}
