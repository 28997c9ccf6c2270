import { closeSync, openSync, writeFileSync } from 'node:fs';
import koffi from 'koffi';
import { parseIp } from '../../src/addresses/ip.ts';
import { LabError } from './errors.ts';
import { inGroup } from './socket-groups.ts';

// Only integers and buffers cross into C: every serious koffi report is about callbacks or structs.
const libc = koffi.load('libc.so.6');
const setns: (fd: number, kind: number) => number = libc.func('int setns(int fd, int kind)');
const socket: (family: number, type: number, protocol: number) => number = libc.func(
  'int socket(int family, int type, int protocol)',
);
const bind: (fd: number, address: Buffer, length: number) => number = libc.func(
  'int bind(int fd, void *address, unsigned int length)',
);
const connect: (fd: number, address: Buffer, length: number) => number = libc.func(
  'int connect(int fd, void *address, unsigned int length)',
);
const listen: (fd: number, backlog: number) => number = libc.func(
  'int listen(int fd, int backlog)',
);
const accept4: (fd: number, address: null, length: null, flags: number) => number = libc.func(
  'int accept4(int fd, void *address, void *length, int flags)',
);
const setsockopt: (fd: number, level: number, name: number, value: Buffer, size: number) => number =
  libc.func('int setsockopt(int fd, int level, int name, void *value, unsigned int size)');

const CLONE_NEWNET = 0x4000_0000;
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const IPPROTO_ICMP = 1;
const IPPROTO_ICMPV6 = 58;
const IPPROTO_IPV6 = 41;
const IPPROTO_SCTP = 132;
const IPV6_V6ONLY = 26;
const SOL_IP = 0;
const IP_RECVERR = 11;
const IPV6_RECVERR = 25;
const SCTP_RTOINFO = 0;
const SCTP_NODELAY = 3;
/** Until the first message of an association is sent again: 3 s where nothing is said. */
const SCTP_FIRST_TIMEOUT_MS = 400;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const SO_SNDTIMEO = 21;
const SO_RCVBUFFORCE = 33;
const ECONNREFUSED = 111;
/** How long a scan waits for a port that says nothing. */
const SCAN_TIMEOUT_MICROSECONDS = 200_000n;
/**
 * A scenario asks one pod by some 240 connections at once. Where more wait than fit here, the kernel
 * lets the client believe that it is connected and drops what it sends.
 */
export const LISTEN_BACKLOG = 4096;

/** `icmp` sends echo requests and receives their replies, without being a raw socket. */
export type SocketKind = 'tcp' | 'udp' | 'icmp' | 'sctp';
/** Dozens of datagrams of 20 kB may wait at one pod, which this process serves among many. */
const UDP_SERVER_BUFFER_BYTES = 8 * 1024 * 1024;

export type IpVersion = 4 | 6;

export interface SocketRequest {
  /** Path of the network namespace, as under /run/netns. */
  readonly namespace: string;
  /** Folder of the control group it belongs to for life; this process's own when not given. */
  readonly group?: string | undefined;
  readonly kind: SocketKind;
  readonly version: IpVersion;
  readonly bindTo?: { readonly address: string; readonly port: number };
}

/**
 * Opens a socket in another network namespace from this process.
 *
 * A socket belongs for life to the namespace its thread was in when it was made, so the thread
 * steps over, makes it, and steps back, all synchronously: no other code of this process ever
 * runs in between. This is what lets one process be every client and every pod of a lab.
 */
export function openSocket(request: SocketRequest): number {
  return inNamespace(request.namespace, () => {
    const type = isStream(request.kind) ? SOCK_STREAM : SOCK_DGRAM;
    const family = request.version === 4 ? AF_INET : AF_INET6;
    const protocol = protocolOf(request);
    const make = (): number => socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    if (request.kind === 'icmp') allowPing();
    const made = request.group === undefined ? make() : inGroup(request.group, make);
    const fd = check(made, 'socket');
    const { bindTo } = request;
    return closeOnError(fd, () => {
      if (request.kind === 'sctp') prepareSctp(fd, request.version);
      if (bindTo) bindSocket(fd, socketAddress(bindTo));
    });
  });
}

function isStream(kind: SocketKind): boolean {
  return kind === 'tcp' || kind === 'sctp';
}

/** Whether this kernel makes them; where the module is not loaded, asking loads it. */
export function hasSctpSockets(): boolean {
  const fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP);
  if (fd < 0) return false;
  closeSync(fd);
  return true;
}

/**
 * A rejection by ICMP is reported to the socket, as TCP does without being asked. It is lost while
 * connect(2) holds the socket, which it always does in a lab of one kernel, and comes again with the
 * second attempt. Small messages do not wait for each other's acknowledgement.
 */
function prepareSctp(fd: number, version: IpVersion): void {
  const errors =
    version === 4
      ? { level: SOL_IP, name: IP_RECVERR }
      : { level: IPPROTO_IPV6, name: IPV6_RECVERR };
  setOption(fd, { ...errors, value: 1 });
  if (version === 6) setOption(fd, { level: IPPROTO_IPV6, name: IPV6_V6ONLY, value: 1 });
  setOption(fd, { level: IPPROTO_SCTP, name: SCTP_NODELAY, value: 1 });
  // struct sctp_rtoinfo: association, first, most and least time-out; 0 leaves one as it is.
  const timeouts = Buffer.alloc(16);
  timeouts.writeUInt32LE(SCTP_FIRST_TIMEOUT_MS, 4);
  check(setsockopt(fd, IPPROTO_SCTP, SCTP_RTOINFO, timeouts, timeouts.length), 'setsockopt');
}

function protocolOf({ kind, version }: Pick<SocketRequest, 'kind' | 'version'>): number {
  if (kind === 'sctp') return IPPROTO_SCTP;
  if (kind !== 'icmp') return 0;
  return version === 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
}

/** A new namespace lets no group of users ping. */
function allowPing(): void {
  writeSysctl('net/ipv4/ping_group_range', '0 0');
}

/** Sets sysctls of a namespace from this process; a pod would cost another process otherwise. */
export function writeSysctls(namespace: string, settings: Readonly<Record<string, string>>): void {
  inNamespace(namespace, () => {
    for (const [key, value] of Object.entries(settings)) writeSysctl(key, value);
  });
}

/** /proc/sys/net is that of the namespace of the calling thread. */
function writeSysctl(key: string, value: string): void {
  writeFileSync(`/proc/sys/${key}`, value);
}

/** A socket bound to a port on one address, or on every IPv4 and IPv6 address of the namespace. */
export function openBoundSocket(
  request: Omit<SocketRequest, 'version'> & { readonly address?: string; readonly port: number },
): number {
  const { address = '::', port } = request;
  const version = address.includes(':') ? 6 : 4;
  const fd = openSocket({ ...request, version });
  return closeOnError(fd, () => {
    if (version === 6 && request.kind !== 'sctp') {
      setOption(fd, { level: IPPROTO_IPV6, name: IPV6_V6ONLY, value: 0 });
    }
    if (isStream(request.kind)) setOption(fd, { level: SOL_SOCKET, name: SO_REUSEADDR, value: 1 });
    if (request.kind === 'udp') {
      setOption(fd, { level: SOL_SOCKET, name: SO_RCVBUFFORCE, value: UDP_SERVER_BUFFER_BYTES });
    }
    bindSocket(fd, socketAddress({ address, port }));
    if (isStream(request.kind)) check(listen(fd, LISTEN_BACKLOG), 'listen');
  });
}

/** The next connection that waits at a listening socket; undefined when none can be had. */
export function acceptWaiting(listener: number): number | undefined {
  const fd = accept4(listener, null, null, SOCK_NONBLOCK | SOCK_CLOEXEC);
  // On any error, Node gets it again in the next event loop iteration and handles it.
  return fd < 0 ? undefined : fd;
}

/**
 * Those of the TCP ports at an address that do not refuse a connection at once: accepted, or silent.
 * Blocks this process meanwhile, 20 µs for each port that refuses.
 */
export function unrefusedPorts(of: {
  readonly namespace: string;
  readonly address: string;
  readonly ports: readonly number[];
}): number[] {
  const { namespace, address, ports } = of;
  const family = address.includes(':') ? AF_INET6 : AF_INET;
  const timeout = Buffer.alloc(16);
  timeout.writeBigInt64LE(SCAN_TIMEOUT_MICROSECONDS, 8);
  return inNamespace(namespace, () =>
    ports.filter((port) => {
      const fd = check(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), 'socket');
      try {
        check(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, timeout, timeout.length), 'setsockopt');
        const to = socketAddress({ address, port });
        return connect(fd, to, to.length) === 0 || koffi.errno() !== ECONNREFUSED;
      } finally {
        closeSync(fd);
      }
    }),
  );
}

function closeOnError(fd: number, prepare: () => void): number {
  try {
    prepare();
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function bindSocket(fd: number, address: Buffer): void {
  check(bind(fd, address, address.length), `bind to port ${address.readUInt16BE(2)}`);
}

/** struct sockaddr_in (16 bytes) or sockaddr_in6 (28 bytes). */
function socketAddress(place: { address: string; port: number }): Buffer {
  const ip = parseIp(place.address);
  if (ip === undefined) {
    throw new LabError('LAB_SOCKET', `'${place.address}' is not an IP address`, {
      next: 'give an IPv4 or IPv6 address without a zone or prefix length',
    });
  }
  const buffer = Buffer.alloc(ip.version === 4 ? 16 : 28);
  buffer.writeUInt16LE(ip.version === 4 ? AF_INET : AF_INET6, 0);
  buffer.writeUInt16BE(place.port, 2);
  buffer.set(ip.bytes, ip.version === 4 ? 4 : 8);
  return buffer;
}

function setOption(fd: number, option: { level: number; name: number; value: number }): void {
  const value = Buffer.alloc(4);
  value.writeInt32LE(option.value);
  check(setsockopt(fd, option.level, option.name, value, value.length), 'setsockopt');
}

function inNamespace<T>(path: string, work: () => T): T {
  const home = openSync('/proc/thread-self/ns/net', 'r');
  const away = openSync(path, 'r');
  try {
    check(setns(away, CLONE_NEWNET), `setns to ${path}`);
    try {
      return work();
    } finally {
      check(setns(home, CLONE_NEWNET), 'setns back home');
    }
  } finally {
    closeSync(away);
    closeSync(home);
  }
}

function check(result: number, what: string): number {
  if (result >= 0) return result;
  throw new LabError('LAB_SOCKET', `${what} failed with errno ${koffi.errno()}`, {
    next: 'run it as root; `errno -l` lists the meanings of the numbers',
  });
}
