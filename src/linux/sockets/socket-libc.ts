import koffi from 'koffi';

// Only integers cross into C: addresses of memory too, which must be those of FixedMemory.
const libc = koffi.load('libc.so.6');

type Call<Args extends number[]> = (...args: Args) => number;

export const socket: Call<[family: number, type: number, protocol: number]> = libc.func(
  'int socket(int family, int type, int protocol)',
);
export const bind: Call<[fd: number, address: number, length: number]> = libc.func(
  'int bind(int fd, intptr_t address, int length)',
);
export const listen: Call<[fd: number, backlog: number]> = libc.func(
  'int listen(int fd, int backlog)',
);
export const accept4: Call<[fd: number, address: number, length: number, flags: number]> =
  libc.func('int accept4(int fd, intptr_t address, intptr_t length, int flags)');
export const connect: Call<[fd: number, address: number, length: number]> = libc.func(
  'int connect(int fd, intptr_t address, int length)',
);
export const getsockname: Call<[fd: number, address: number, length: number]> = libc.func(
  'int getsockname(int fd, intptr_t address, intptr_t length)',
);
export const setsockopt: Call<
  [fd: number, level: number, name: number, value: number, size: number]
> = libc.func('int setsockopt(int fd, int level, int name, intptr_t value, int size)');
export const getsockopt: Call<
  [fd: number, level: number, name: number, value: number, size: number]
> = libc.func('int getsockopt(int fd, int level, int name, intptr_t value, intptr_t size)');
export const shutdown: Call<[fd: number, how: number]> = libc.func('int shutdown(int fd, int how)');
export const close: Call<[fd: number]> = libc.func('int close(int fd)');
/** Transfers stay far below 2 GiB, so their lengths are returned as int. */
export const recv: Call<[fd: number, bytes: number, size: number, flags: number]> = libc.func(
  'int recv(int fd, intptr_t bytes, long size, int flags)',
);
export const send: Call<[fd: number, bytes: number, size: number, flags: number]> = libc.func(
  'int send(int fd, intptr_t bytes, long size, int flags)',
);
export const sendmsg: Call<[fd: number, message: number, flags: number]> = libc.func(
  'int sendmsg(int fd, intptr_t message, int flags)',
);
export const recvmsg: Call<[fd: number, message: number, flags: number]> = libc.func(
  'int recvmsg(int fd, intptr_t message, int flags)',
);
export const read: Call<[fd: number, bytes: number, size: number]> = libc.func(
  'int read(int fd, intptr_t bytes, long size)',
);
export const write: Call<[fd: number, bytes: number, size: number]> = libc.func(
  'int write(int fd, intptr_t bytes, long size)',
);
export const epollCreate: Call<[flags: number]> = libc.func('int epoll_create1(int flags)');
export const epollCtl: Call<[epoll: number, operation: number, fd: number, event: number]> =
  libc.func('int epoll_ctl(int epoll, int operation, int fd, intptr_t event)');
export const epollWait: Call<[epoll: number, events: number, most: number, timeoutMs: number]> =
  libc.func('int epoll_wait(int epoll, intptr_t events, int most, int timeout_ms)');
export const eventfd: Call<[value: number, flags: number]> = libc.func(
  'int eventfd(unsigned int value, int flags)',
);
export const prlimit: Call<[pid: number, resource: number, wanted: number, found: number]> =
  libc.func('int prlimit(int pid, int resource, intptr_t wanted, intptr_t found)');

/** Of the last call on this thread that returned -1. */
export function errno(): number {
  return koffi.errno();
}
