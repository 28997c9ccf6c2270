import { closeSync, openSync } from 'node:fs';
import koffi from 'koffi';
import { BpfError, callFailed, errnoName } from './errors.ts';

const libc = koffi.load('libc.so.6');
const setns: (fd: number, kind: number) => number = libc.func('int setns(int fd, int kind)');
const socket: (family: number, type: number, protocol: number) => number = libc.func(
  'int socket(int family, int type, int protocol)',
);
const getsockopt: (
  ...args: [fd: number, level: number, name: number, value: Uint8Array, size: Uint8Array]
) => number = libc.func('int getsockopt(int fd, int level, int name, void *value, void *size)');
const AF_INET = 2;
const SOCK_DGRAM_CLOEXEC = 0o2000002;
const SOL_SOCKET = 1;
/** Linux 5.14. */
const SO_NETNS_COOKIE = 71;
const COOKIE_BYTES = 8;
const CLONE_NEWNET = 0x4000_0000;
const OWN = '/proc/thread-self/ns/net';

/**
 * Runs one synchronous stretch of code with this thread in another network namespace, given by a
 * path such as /proc/123/ns/net. Nothing else of the process runs on the thread meanwhile, and the
 * stretch must not wait. See decision 0007.
 */
export function insideNetworkNamespace<T>(path: string, stretch: () => T): T {
  const home = openSync(OWN, 'r');
  try {
    const there = openSync(path, 'r');
    try {
      enter(there, path);
    } finally {
      closeSync(there);
    }
    try {
      return stretch();
    } finally {
      // Away from home every socket made from now on would be in the wrong place.
      if (setns(home, CLONE_NEWNET) !== 0) process.abort();
    }
  } finally {
    closeSync(home);
  }
}

/** The number by which programs know the network namespace of this thread, given once and for all. */
export function networkNamespaceCookie(): bigint {
  const value = Buffer.alloc(COOKIE_BYTES);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(value.length);
  const fd = socket(AF_INET, SOCK_DGRAM_CLOEXEC, 0);
  const result = fd < 0 ? fd : getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, value, size);
  const errno = result < 0 ? koffi.errno() : 0;
  if (fd >= 0) closeSync(fd);
  if (result >= 0) return value.readBigUInt64LE();
  throw callFailed('read the cookie of the network namespace', -errno);
}

function enter(fd: number, path: string): void {
  if (setns(fd, CLONE_NEWNET) === 0) return;
  const errno = koffi.errno();
  const message = `cannot enter the network namespace ${path}: ${errnoName(errno)}`;
  throw new BpfError('BPF_NOT_PERMITTED', message, {
    errno,
    next: 'run as root with CAP_SYS_ADMIN; in a container, mount /run/netns or use the PID namespace of the machine',
  });
}
