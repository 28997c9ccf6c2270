import { orThrow } from '../sockets/descriptors.ts';
import { fixedMemory } from '../sockets/fixed-memory.ts';
import { SOL_SOCKET } from '../sockets/socket-constants.ts';
import { getsockopt } from '../sockets/socket-libc.ts';

const SO_PEERCRED = 17;
/** struct ucred: process, user, group. */
const CREDENTIALS_BYTES = 12;

/** The process that listens at the other end of a connected unix socket, also one that hangs. */
export function listeningPid(fd: number): number {
  const value = fixedMemory(CREDENTIALS_BYTES);
  const size = fixedMemory(4);
  size.bytes.writeInt32LE(CREDENTIALS_BYTES, 0);
  const { address } = value;
  orThrow(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, address, size.address), 'read a peer');
  return value.bytes.readInt32LE(0);
}
