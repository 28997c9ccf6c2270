import { AddressCalls } from './address-calls.ts';
import { closedOnError, orThrow } from './descriptors.ts';
import { fixedMemory } from './fixed-memory.ts';
import { setKeepalive } from './keepalive.ts';
import { encodeSocketAddress, MOST_SOCKET_ADDRESS_BYTES } from './socket-address.ts';
import {
  AF_INET,
  AF_INET6,
  IP_FREEBIND,
  IPV6_FREEBIND,
  IPV6_V6ONLY,
  SO_OOBINLINE,
  SO_REUSEADDR,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_IP,
  SOL_IPV6,
  SOL_SOCKET,
  SOL_TCP,
  TCP_NODELAY,
  TCP_NOTSENT_LOWAT,
} from './socket-constants.ts';
import { SocketError } from './socket-error.ts';
import { bind, listen, socket } from './socket-libc.ts';
import { SocketOptions } from './socket-options.ts';

/** The kernel lowers it to net.core.somaxconn. */
const BACKLOG = 65_535;
/** Bytes that wait in a socket's send buffer; what its peer has not acknowledged is not in it. */
export const MOST_UNSENT_BYTES = 128 * 1024;

export interface Listener {
  readonly fd: number;
  readonly port: number;
}

/**
 * A TCP listener at one address in the network namespace of this thread, at a port that no other
 * listener has there; 0: at any free one. The machine need not have the address yet. Accepted
 * sockets inherit all options, so that none is set for each connection.
 */
export function openListener(address: string, port = 0): Listener {
  const isIPv6 = address.includes(':');
  const type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const fd = orThrow(socket(isIPv6 ? AF_INET6 : AF_INET, type, 0), 'open a TCP socket');
  return closedOnError(fd, () => {
    setInherited(fd);
    // Connections that ended a moment ago do not keep the port.
    set(fd, { level: SOL_SOCKET, name: SO_REUSEADDR, value: 1 });
    if (isIPv6) set(fd, { level: SOL_IPV6, name: IPV6_V6ONLY, value: 1 });
    const freebind = isIPv6 ? IPV6_FREEBIND : IP_FREEBIND;
    set(fd, { level: isIPv6 ? SOL_IPV6 : SOL_IP, name: freebind, value: 1 });
    const memory = fixedMemory(MOST_SOCKET_ADDRESS_BYTES);
    const length = encodeSocketAddress(memory.bytes, { address, port });
    orThrow(bind(fd, memory.address, length), `bind a listener to ${address}`);
    orThrow(listen(fd, BACKLOG), 'listen');
    return { fd, port: listenerPort(fd) };
  });
}

/** The port of a listener that another process opened. */
export function listenerPort(fd: number): number {
  const calls = new AddressCalls();
  const result = calls.ownAddress(fd);
  if (result < 0) throw new SocketError('read the address of a listener', -result);
  return calls.address.readUInt16BE(2);
}

function setInherited(fd: number): void {
  set(fd, { level: SOL_TCP, name: TCP_NODELAY, value: 1 });
  set(fd, { level: SOL_TCP, name: TCP_NOTSENT_LOWAT, value: MOST_UNSENT_BYTES });
  // An urgent byte stays in its place in the stream instead of being lost.
  set(fd, { level: SOL_SOCKET, name: SO_OOBINLINE, value: 1 });
  const failed = setKeepalive(new SocketOptions(), fd);
  if (failed !== 0) throw new SocketError('set keepalive of a listener', failed);
}

function set(fd: number, option: { level: number; name: number; value: number }): void {
  const failed = new SocketOptions().setNumber(fd, option, option.value);
  if (failed !== 0) throw new SocketError(`set option ${option.name} of a listener`, failed);
}
