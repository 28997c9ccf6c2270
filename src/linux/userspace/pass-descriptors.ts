import { chmodSync } from 'node:fs';
import { constants } from 'node:os';
import { closeDescriptor, closedOnError, orThrow } from '../sockets/descriptors.ts';
import { fixedMemory } from '../sockets/fixed-memory.ts';
import {
  AF_UNIX,
  SO_SNDBUFFORCE,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_SEQPACKET,
  SOL_SOCKET,
} from '../sockets/socket-constants.ts';
import { SocketError } from '../sockets/socket-error.ts';
import { accept4, bind, connect, errno, listen, socket } from '../sockets/socket-libc.ts';
import { SocketOptions } from '../sockets/socket-options.ts';
import { untilReady, type Wait } from '../sockets/until-ready.ts';
import { type Parcel, receiveParcel, sendParcel } from './descriptor-message.ts';

const BACKLOG = 16;
const SEND_BUFFER_BYTES = 1024 * 1024;
const MOST_PATH_BYTES = 107;
const FLAGS = SOCK_NONBLOCK | SOCK_CLOEXEC;
const NOTHING = 0;
const { EAGAIN, EINTR, ENAMETOOLONG } = constants.errno;

/**
 * One end of a unix socket (SOCK_SEQPACKET) that carries descriptors. Every call has a deadline and
 * rejects with a SocketError; one call of each kind at a time.
 */
export class DescriptorSocket implements Disposable {
  readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
    new SocketOptions().setNumber(
      fd,
      { level: SOL_SOCKET, name: SO_SNDBUFFORCE },
      SEND_BUFFER_BYTES,
    );
  }

  /** At most MOST_DESCRIPTORS, which stay open here, with 1 byte to 256 KiB. */
  async send(parcel: Parcel, wait: Wait): Promise<void> {
    await retried('send descriptors', { fd: this.fd, what: 'writable', ...wait }, () =>
      sendParcel(this.fd, parcel),
    );
  }

  /** Undefined: the other end was closed. The receiver of descriptors must close them. */
  async receive(wait: Wait): Promise<Parcel | undefined> {
    let parcel: Parcel | undefined;
    await retried('receive descriptors', { fd: this.fd, what: 'readable', ...wait }, () => {
      const received = receiveParcel(this.fd);
      if (typeof received === 'number') return received;
      parcel = received;
      return 0;
    });
    return parcel;
  }

  [Symbol.dispose](): void {
    closeDescriptor(this.fd);
  }
}

/** Waits for connections at a path; the file must not exist, and is not deleted at the end. */
export class DescriptorListener implements Disposable {
  readonly #fd: number;

  constructor(path: string) {
    const fd = orThrow(socket(AF_UNIX, SOCK_SEQPACKET | FLAGS, 0), 'open a unix socket');
    closedOnError(fd, () => {
      const address = pathAddress(path);
      orThrow(bind(fd, address.address, address.bytes.length), `bind ${path}`);
      chmodSync(path, 0o600);
      orThrow(listen(fd, BACKLOG), `listen at ${path}`);
    });
    this.#fd = fd;
  }

  async accept(wait: Wait): Promise<DescriptorSocket> {
    let accepted = -1;
    await retried('accept a connection', { fd: this.#fd, what: 'readable', ...wait }, () => {
      accepted = accept4(this.#fd, NOTHING, NOTHING, FLAGS);
      return accepted < 0 ? errno() : 0;
    });
    return new DescriptorSocket(accepted);
  }

  [Symbol.dispose](): void {
    closeDescriptor(this.#fd);
  }
}

/** Rejects with ENOENT or ECONNREFUSED when no process listens. */
export async function connectDescriptors(path: string, wait: Wait): Promise<DescriptorSocket> {
  const address = pathAddress(path);
  const fd = orThrow(socket(AF_UNIX, SOCK_SEQPACKET | FLAGS, 0), 'open a unix socket');
  const operation = `connect to ${path}`;
  const deadlineMs = performance.now() + wait.timeoutMs;
  try {
    // EAGAIN: its queue is full, for which there is no event.
    for (;;) {
      if (connect(fd, address.address, address.bytes.length) === 0) return new DescriptorSocket(fd);
      const failed = errno();
      if (failed !== EAGAIN && failed !== EINTR) throw new SocketError(operation, failed);
      if (performance.now() > deadlineMs || wait.signal?.aborted) {
        throw new SocketError(operation, failed);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  } catch (error) {
    closeDescriptor(fd);
    throw error;
  }
}

async function retried(
  operation: string,
  on: Wait & { readonly fd: number; readonly what: 'readable' | 'writable' },
  attempt: () => number,
): Promise<void> {
  const deadlineMs = performance.now() + on.timeoutMs;
  for (;;) {
    const failed = attempt();
    if (failed === 0) return;
    if (failed !== EAGAIN && failed !== EINTR) throw new SocketError(operation, failed);
    const timeoutMs = Math.max(deadlineMs - performance.now(), 0);
    await untilReady(on.fd, on.what, { ...on, timeoutMs });
  }
}

function pathAddress(path: string) {
  const name = Buffer.from(path);
  if (name.length > MOST_PATH_BYTES) throw new SocketError(`use ${path}`, ENAMETOOLONG);
  const address = fixedMemory(2 + name.length + 1);
  address.bytes.writeUInt16LE(AF_UNIX, 0);
  address.bytes.set(name, 2);
  return address;
}
