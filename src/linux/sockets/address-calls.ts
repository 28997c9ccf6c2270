import { fixedMemory } from './fixed-memory.ts';
import { MOST_SOCKET_ADDRESS_BYTES } from './socket-address.ts';
import {
  SO_ORIGINAL_DST,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOL_IP,
  SOL_IPV6,
} from './socket-constants.ts';
import { accept4, errno, getsockname, getsockopt } from './socket-libc.ts';

/**
 * Calls that return a socket address, in memory that the next call of the same kind overwrites:
 * `peer` for accept, `address` for the others. They return -errno when they fail.
 */
export class AddressCalls {
  readonly #peer = fixedMemory(MOST_SOCKET_ADDRESS_BYTES);
  readonly #address = fixedMemory(MOST_SOCKET_ADDRESS_BYTES);
  readonly #length = fixedMemory(4);
  readonly #lengthWord = new Int32Array(this.#length.bytes.buffer);

  get peer(): Buffer {
    return this.#peer.bytes;
  }

  get address(): Buffer {
    return this.#address.bytes;
  }

  /** A connected socket that does not block; its peer is in `peer`. */
  accept(listener: number): number {
    this.#lengthWord[0] = MOST_SOCKET_ADDRESS_BYTES;
    const flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
    const fd = accept4(listener, this.#peer.address, this.#length.address, flags);
    return fd < 0 ? -errno() : fd;
  }

  /** Where the client connected to before a redirect; ENOENT: connection tracking has no entry. */
  originalDestination(fd: number, isIPv6: boolean): number {
    this.#lengthWord[0] = MOST_SOCKET_ADDRESS_BYTES;
    const level = isIPv6 ? SOL_IPV6 : SOL_IP;
    const { address } = this.#address;
    const result = getsockopt(fd, level, SO_ORIGINAL_DST, address, this.#length.address);
    return result < 0 ? -errno() : 0;
  }

  ownAddress(fd: number): number {
    this.#lengthWord[0] = MOST_SOCKET_ADDRESS_BYTES;
    const result = getsockname(fd, this.#address.address, this.#length.address);
    return result < 0 ? -errno() : 0;
  }
}
