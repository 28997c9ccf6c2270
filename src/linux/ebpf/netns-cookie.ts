import koffi from 'koffi';

const libc = koffi.load('libc.so.6');
const socket: (family: number, type: number, protocol: number) => number = libc.func(
  'int socket(int family, int type, int protocol)',
);
const getsockopt: (
  ...args: [fd: number, level: number, name: number, value: Uint8Array, size: Uint8Array]
) => number = libc.func('int getsockopt(int fd, int level, int name, void *value, void *size)');
const close: (fd: number) => number = libc.func('int close(int fd)');

const AF_INET = 2;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
/** Linux 5.14. */
const SO_NETNS_COOKIE = 71;

/** The cookie by which BPF programs identify the network namespace of this thread. */
export function netnsCookie(): bigint {
  const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw new Error(`cannot create a socket: errno ${koffi.errno()}`);
  try {
    const value = Buffer.alloc(8);
    const size = Buffer.from([8, 0, 0, 0]);
    if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, value, size) === 0) {
      return value.readBigUInt64LE();
    }
    throw new Error(
      `cannot read the cookie of the network namespace (SO_NETNS_COOKIE): errno ${koffi.errno()}`,
    );
  } finally {
    close(fd);
  }
}
