import { insideNetworkNamespace } from '../inside-namespace.ts';
import { AddressCalls } from '../sockets/address-calls.ts';
import { closeDescriptor, closedOnError, orThrow } from '../sockets/descriptors.ts';
import { fixedMemory } from '../sockets/fixed-memory.ts';
import {
  decodeSocketAddress,
  encodeSocketAddress,
  MOST_SOCKET_ADDRESS_BYTES,
  type SocketAddress,
} from '../sockets/socket-address.ts';
import {
  AF_INET,
  AF_INET6,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  SOCK_STREAM,
} from '../sockets/socket-constants.ts';
import { SocketError } from '../sockets/socket-error.ts';
import { bind, connect, socket } from '../sockets/socket-libc.ts';
import { SocketOptions } from '../sockets/socket-options.ts';

/** Where a probe goes. */
export interface ProbeTarget extends SocketAddress {
  readonly protocol: 'TCP' | 'UDP';
}

/** A socket that keeps a port of its network namespace for one probe. */
export interface HeldPort extends Disposable {
  readonly fd: number;
  /** Undefined: it is bound to no address, so that the kernel chooses one when it connects. */
  readonly source: string | undefined;
  readonly sourcePort: number;
  readonly target: ProbeTarget;
  /** Undefined: the namespace of this thread. */
  readonly namespacePath: string | undefined;
}

/** A port that is bound to an address. */
export interface BoundPort extends HeldPort {
  readonly source: string;
}

/**
 * Binds a free port. `source`: at this address; undefined: at the one that the routes of the namespace
 * give as source to the target. Nothing is sent. Throws SocketError: ENETUNREACH where there is no
 * route.
 */
export function holdPort(
  target: ProbeTarget,
  where: { readonly namespacePath?: string | undefined; readonly source?: string | undefined } = {},
): BoundPort {
  const { namespacePath } = where;
  return inside(namespacePath, () => {
    const source = where.source ?? sourceTowards(target.address);
    return { ...held(target, source), source, namespacePath };
  });
}

/**
 * Binds a free port in this network namespace, and no address: a program at the socket may send it
 * to an endpoint that is reached from another address than the target.
 */
export function holdPortOnly(target: ProbeTarget): HeldPort {
  const anywhere = isIPv6(target.address) ? '::' : '0.0.0.0';
  return { ...held(target, anywhere), source: undefined, namespacePath: undefined };
}

export function inside<T>(namespacePath: string | undefined, run: () => T): T {
  return namespacePath === undefined ? run() : insideNetworkNamespace(namespacePath, run);
}

export function isIPv6(address: string): boolean {
  return address.includes(':');
}

function held(
  target: ProbeTarget,
  address: string,
): Pick<HeldPort, 'fd' | 'sourcePort' | 'target'> & Disposable {
  const kind = target.protocol === 'TCP' ? SOCK_STREAM : SOCK_DGRAM;
  const fd = open(target.address, kind);
  return closedOnError(fd, () => {
    if (target.protocol === 'TCP') new SocketOptions().resetOnClose(fd);
    const at = addressMemory({ address, port: 0 });
    orThrow(bind(fd, at.address, at.length), `bind a probe to ${address}`);
    const sourcePort = ownAddress(fd).port;
    return { fd, sourcePort, target, [Symbol.dispose]: () => closeDescriptor(fd) };
  });
}

/**
 * A datagram socket that is connected knows its source, and sends nothing. With port 0, which no
 * Service has: a program at the socket would count a connection and send it to an endpoint.
 */
function sourceTowards(address: string): string {
  const fd = open(address, SOCK_DGRAM);
  try {
    connectTo(fd, { address, port: 0 });
    return ownAddress(fd).address;
  } finally {
    closeDescriptor(fd);
  }
}

function open(address: string, kind: number): number {
  const type = kind | SOCK_NONBLOCK | SOCK_CLOEXEC;
  return orThrow(socket(isIPv6(address) ? AF_INET6 : AF_INET, type, 0), 'open a socket');
}

export function connectTo(fd: number, to: SocketAddress): void {
  const at = addressMemory(to);
  orThrow(connect(fd, at.address, at.length), `connect a probe to ${to.address}`);
}

export function addressMemory(address: SocketAddress) {
  const memory = fixedMemory(MOST_SOCKET_ADDRESS_BYTES);
  return { ...memory, length: encodeSocketAddress(memory.bytes, address) };
}

/** The address and port that a socket has now. */
export function ownAddress(fd: number): SocketAddress {
  const calls = new AddressCalls();
  const failed = -calls.ownAddress(fd);
  if (failed !== 0) throw new SocketError('read the address of a probe', failed);
  return decodeSocketAddress(calls.address);
}
