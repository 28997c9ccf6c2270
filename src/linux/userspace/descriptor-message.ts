import { constants } from 'node:os';
import { type FixedMemory, fixedMemory } from '../sockets/fixed-memory.ts';
import {
  MSG_CMSG_CLOEXEC,
  MSG_CTRUNC,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  MSG_TRUNC,
  SOL_SOCKET,
} from '../sockets/socket-constants.ts';
import { SocketError } from '../sockets/socket-error.ts';
import { close, errno, recvmsg, sendmsg } from '../sockets/socket-libc.ts';

/** The kernel takes 253 in one message (SCM_MAX_FD). */
export const MOST_DESCRIPTORS = 200;
const MOST_PAYLOAD_BYTES = 256 * 1024;
const SCM_RIGHTS = 1;
/** struct msghdr and cmsghdr, on machines of 64 bits. */
const MESSAGE = { bytes: 56, iov: 16, iovCount: 24, control: 32, controlBytes: 40, flags: 48 };
const CONTROL_HEADER_BYTES = 16;
const FD_BYTES = 4;
const IOV_BYTES = 16;
const { EMSGSIZE } = constants.errno;

/** A payload and the descriptors that come with it. */
export interface Parcel {
  readonly payload: Buffer;
  readonly fds: readonly number[];
}

/** Without waiting; returns 0 or the errno. The descriptors stay open here. */
export function sendParcel(fd: number, { payload, fds }: Parcel): number {
  if (fds.length > MOST_DESCRIPTORS || payload.length > MOST_PAYLOAD_BYTES) return EMSGSIZE;
  // A packet without a byte is how the other end learns that this one was closed.
  if (payload.length === 0) throw new RangeError('a parcel needs a payload');
  const message = new Message(payload.length, fds.length);
  message.payload.bytes.set(payload);
  message.writeDescriptors(fds);
  return sendmsg(fd, message.address, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno() : 0;
}

/** Without waiting; undefined: the other end was closed; a number: the errno. */
export function receiveParcel(fd: number): Parcel | undefined | number {
  const message = new Message(MOST_PAYLOAD_BYTES, MOST_DESCRIPTORS);
  const length = recvmsg(fd, message.address, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0) return errno();
  const fds = message.readDescriptors();
  if (message.isTruncated()) {
    for (const received of fds) close(received);
    throw new SocketError('receive descriptors', EMSGSIZE);
  }
  if (length === 0 && fds.length === 0) return undefined;
  return { payload: message.payload.bytes.subarray(0, length), fds };
}

class Message {
  readonly payload: FixedMemory;
  readonly #control: FixedMemory;
  readonly #iov = fixedMemory(IOV_BYTES);
  readonly #header = fixedMemory(MESSAGE.bytes);

  constructor(payloadBytes: number, fdCount: number) {
    this.payload = fixedMemory(payloadBytes);
    const controlBytes = fdCount === 0 ? 0 : CONTROL_HEADER_BYTES + ((fdCount * FD_BYTES + 7) & ~7);
    this.#control = fixedMemory(Math.max(controlBytes, CONTROL_HEADER_BYTES));
    this.#iov.bytes.writeBigUInt64LE(BigInt(this.payload.address), 0);
    this.#iov.bytes.writeBigUInt64LE(BigInt(payloadBytes), 8);
    const { bytes } = this.#header;
    bytes.writeBigUInt64LE(BigInt(this.#iov.address), MESSAGE.iov);
    bytes.writeBigUInt64LE(1n, MESSAGE.iovCount);
    bytes.writeBigUInt64LE(BigInt(this.#control.address), MESSAGE.control);
    bytes.writeBigUInt64LE(BigInt(controlBytes), MESSAGE.controlBytes);
  }

  get address(): number {
    return this.#header.address;
  }

  writeDescriptors(fds: readonly number[]): void {
    if (fds.length === 0) return;
    const { bytes } = this.#control;
    bytes.writeBigUInt64LE(BigInt(CONTROL_HEADER_BYTES + fds.length * FD_BYTES), 0);
    bytes.writeInt32LE(SOL_SOCKET, 8);
    bytes.writeInt32LE(SCM_RIGHTS, 12);
    for (const [at, fd] of fds.entries()) {
      bytes.writeInt32LE(fd, CONTROL_HEADER_BYTES + at * FD_BYTES);
    }
  }

  readDescriptors(): number[] {
    const received = Number(this.#header.bytes.readBigUInt64LE(MESSAGE.controlBytes));
    if (received < CONTROL_HEADER_BYTES) return [];
    const { bytes } = this.#control;
    if (bytes.readInt32LE(8) !== SOL_SOCKET || bytes.readInt32LE(12) !== SCM_RIGHTS) return [];
    const count = Math.floor((Number(bytes.readBigUInt64LE(0)) - CONTROL_HEADER_BYTES) / FD_BYTES);
    return Array.from({ length: count }, (_, at) =>
      bytes.readInt32LE(CONTROL_HEADER_BYTES + at * FD_BYTES),
    );
  }

  isTruncated(): boolean {
    return (this.#header.bytes.readInt32LE(MESSAGE.flags) & (MSG_TRUNC | MSG_CTRUNC)) !== 0;
  }
}
