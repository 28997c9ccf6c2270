import { constants } from 'node:os';
import koffi from 'koffi';

// Only integers and buffers cross into C: every serious koffi report is about callbacks or structs.
const libc = koffi.load('libc.so.6');

const socket: (family: number, type: number, protocol: number) => number = libc.func(
  'int socket(int family, int type, int protocol)',
);
const bind: (fd: number, address: Uint8Array, length: number) => number = libc.func(
  'int bind(int fd, void *address, unsigned int length)',
);
const getsockname: (fd: number, address: Uint8Array, length: Uint8Array) => number = libc.func(
  'int getsockname(int fd, void *address, void *length)',
);
const setsockopt: (
  ...args: [fd: number, level: number, name: number, value: Uint8Array, size: number]
) => number = libc.func(
  'int setsockopt(int fd, int level, int name, void *value, unsigned int size)',
);
const close: (fd: number) => number = libc.func('int close(int fd)');
const sendFunction = libc.func('long send(int fd, void *bytes, unsigned long size, int flags)');
const receiveFunction = libc.func('long recv(int fd, void *bytes, unsigned long size, int flags)');

type Transfer = (...args: [fd: number, bytes: Uint8Array, size: number, flags: number]) => number;
const send = sendFunction as unknown as Transfer;
const receive = receiveFunction as unknown as Transfer;

const AF_NETLINK = 16;
const SOCK_RAW = 3;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_TRUNC = 0x20;
const { EINTR, EAGAIN } = constants.errno;

/** A call into the kernel that failed, by its number. */
export interface Failed {
  readonly errno: number;
}

/** A netlink socket of this thread's network namespace; the number of its descriptor. */
export function openNetlinkSocket(protocol: number): number | Failed {
  const fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
  return fd < 0 ? { errno: koffi.errno() } : fd;
}

/** The kernel chooses the port id; gives it. */
export function bindNetlinkSocket(fd: number): number | Failed {
  const address = Buffer.alloc(12);
  address.writeUInt16LE(AF_NETLINK, 0);
  if (bind(fd, address, address.length) < 0) return { errno: koffi.errno() };
  const length = Buffer.alloc(4);
  length.writeUInt32LE(address.length);
  if (getsockname(fd, address, length) < 0) return { errno: koffi.errno() };
  return address.readUInt32LE(4);
}

export function setSocketOption(
  fd: number,
  option: { readonly level: number; readonly name: number; readonly value: number },
): Failed | undefined {
  const value = Buffer.alloc(4);
  value.writeInt32LE(option.value);
  const result = setsockopt(fd, option.level, option.name, value, value.length);
  return result < 0 ? { errno: koffi.errno() } : undefined;
}

export function closeDescriptor(fd: number): void {
  close(fd);
}

/** The kernel does the work inside this call: for what takes microseconds. */
export function sendNow(fd: number, bytes: Uint8Array): Failed | undefined {
  for (;;) {
    if (send(fd, bytes, bytes.length, 0) >= 0) return undefined;
    const errno = koffi.errno();
    if (errno !== EINTR) return { errno };
  }
}

/**
 * The same on a thread of its own, 25 µs dearer: for what would hold up the event loop. koffi does
 * not hold on to the bytes meanwhile; this function does, because it may have to send them again.
 */
export async function sendOnThread(fd: number, bytes: Uint8Array): Promise<Failed | undefined> {
  for (;;) {
    const failed = await sendOnceOnThread(fd, bytes);
    if (failed?.errno !== EINTR) return failed;
  }
}

function sendOnceOnThread(fd: number, bytes: Uint8Array): Promise<Failed | undefined> {
  return new Promise((resolve, reject) => {
    sendFunction.async(fd, bytes, bytes.length, 0, (error: unknown, result: number) => {
      if (error) reject(error instanceof Error ? error : new Error(String(error)));
      // koffi keeps the errno of each call on a thread and shows it here, and only here.
      else resolve(result < 0 ? { errno: koffi.errno() } : undefined);
    });
  });
}

/**
 * Receives without waiting; returns the length, 0 when nothing has arrived. A message longer than
 * the buffer returns its true length, which is larger than the buffer's.
 */
export function receiveNow(fd: number, into: Uint8Array): number | Failed {
  for (;;) {
    const length = receive(fd, into, into.length, MSG_DONTWAIT | MSG_TRUNC);
    if (length >= 0) return length;
    const errno = koffi.errno();
    if (errno === EAGAIN) return 0;
    if (errno !== EINTR) return { errno };
  }
}

/**
 * The same on a thread of its own, for answers that take the kernel milliseconds to make. The
 * caller must hold on to the buffer, because koffi does not.
 */
export function receiveOnThread(fd: number, into: Uint8Array): Promise<number | Failed> {
  return new Promise((resolve, reject) => {
    const flags = MSG_DONTWAIT | MSG_TRUNC;
    receiveFunction.async(fd, into, into.length, flags, (error: unknown, length: number) => {
      if (error) return reject(error instanceof Error ? error : new Error(String(error)));
      if (length >= 0) return resolve(length);
      const errno = koffi.errno();
      resolve(errno === EAGAIN || errno === EINTR ? 0 : { errno });
    });
  });
}

/**
 * Calls back whenever there is data or an error to receive; the returned function stops it and may
 * be called twice. Lost events are a socket error for the kernel, and libuv stops polling a
 * descriptor after an error: without a restart the socket would receive nothing after the first
 * overrun.
 */
export function pollReadable(fd: number, onReadable: () => void): () => void {
  let stopped = false;
  // Its types leave it out, but koffi gives the status first and the events after it.
  const onPoll = (status: unknown): void => {
    onReadable();
    if (status !== 0 && !stopped) handle.start({ readable: true }, onPoll);
  };
  const handle = koffi.node.poll(fd, { readable: true }, onPoll);
  return () => {
    // koffi passes a closed handle on to libuv, which crashes.
    if (stopped) return;
    stopped = true;
    handle.stop();
    handle.close();
  };
}
