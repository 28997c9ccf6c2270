import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { fixedMemory } from '../sockets/fixed-memory.ts';
import { SocketError } from '../sockets/socket-error.ts';
import { errno, prlimit } from '../sockets/socket-libc.ts';

const RLIMIT_NOFILE = 7;
const SELF = 0;
const NOTHING = 0;
const { EPERM } = constants.errno;

/**
 * Raises the limit of open files of this process to `wanted`, or as far as it may: to its hard
 * limit without CAP_SYS_RESOURCE, and never above fs.nr_open. Returns the limit; never lowers it.
 */
export function raiseOpenFiles(wanted: number): number {
  const found = fixedMemory(16);
  if (prlimit(SELF, RLIMIT_NOFILE, NOTHING, found.address) < 0) {
    throw new SocketError('read the limit of open files', errno());
  }
  const soft = found.bytes.readBigUInt64LE(0);
  // RLIM_INFINITY is the largest number.
  const hard = found.bytes.readBigUInt64LE(8);
  // A process without a free descriptor cannot read a file, but can raise its limit.
  const aim = BigInt(wanted) <= hard ? BigInt(wanted) : smaller(BigInt(wanted), mostOfKernel());
  if (aim <= soft) return Number(soft);
  if (aim > hard && setLimit(aim, aim)) return Number(aim);
  const allowed = smaller(aim, hard);
  return Number(allowed > soft && setLimit(allowed, hard) ? allowed : soft);
}

/** False: not permitted. */
function setLimit(soft: bigint, hard: bigint): boolean {
  const limit = fixedMemory(16);
  limit.bytes.writeBigUInt64LE(soft, 0);
  limit.bytes.writeBigUInt64LE(hard, 8);
  if (prlimit(SELF, RLIMIT_NOFILE, limit.address, NOTHING) === 0) return true;
  const failed = errno();
  if (failed === EPERM) return false;
  throw new SocketError('raise the limit of open files', failed);
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function mostOfKernel(): bigint {
  return BigInt(readFileSync('/proc/sys/fs/nr_open', 'utf8'));
}
