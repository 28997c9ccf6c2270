import { getSystemErrorName } from 'node:util';
import { ENOTSUPP, Errno } from './system-call.ts';

export type BpfErrorCode =
  /** Not an object that this loader supports: a fault of the build. */
  | 'BPF_OBJECT_INVALID'
  /** The compiled programs are not where they are shipped. */
  | 'BPF_OBJECT_MISSING'
  /** The verifier rejected the program. `detail` has the end of its log. */
  | 'BPF_PROGRAM_REFUSED'
  /** This kernel lacks a field, type or function that the program needs. */
  | 'BPF_KERNEL_LACKS'
  /** An existing map does not match the declaration. */
  | 'BPF_MAP_DIFFERS'
  /** No permission, or kernel lockdown. */
  | 'BPF_NOT_PERMITTED'
  /** A map is full, or the kernel is out of memory. */
  | 'BPF_FULL'
  /** Not supported by this kernel for this kind of object. */
  | 'BPF_UNSUPPORTED'
  /** No such pin, id, key or device. */
  | 'BPF_MISSING'
  /** Already exists. */
  | 'BPF_EXISTS'
  | 'BPF_FAILED';

/** A failure of bpf(2). */
export class BpfError extends Error {
  override readonly name = 'BpfError';
  readonly code: BpfErrorCode;
  readonly next: string;
  /** Positive; undefined: not an error of the kernel. */
  readonly errno: number | undefined;
  /** The end of the verifier log. */
  readonly detail: string | undefined;

  constructor(
    code: BpfErrorCode,
    message: string,
    about: {
      readonly next?: string;
      readonly errno?: number;
      readonly detail?: string;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: about.cause });
    this.code = code;
    this.next = about.next ?? NEXT[code];
    this.errno = about.errno;
    this.detail = about.detail;
  }
}

/** The error of a call that returned a negative number. */
export function callFailed(doing: string, result: number): BpfError {
  const errno = -result;
  return new BpfError(codeOf(errno), `cannot ${doing}: ${errnoName(errno)}`, { errno });
}

/** Returns the result of a call, or throws. */
export function succeeded(doing: string, result: number): number {
  if (result < 0) throw callFailed(doing, result);
  return result;
}

export function errnoName(errno: number): string {
  if (errno === ENOTSUPP) return 'ENOTSUPP';
  try {
    return getSystemErrorName(-errno);
  } catch (error) {
    // libuv has no name for some numbers.
    if (error instanceof RangeError || error instanceof TypeError) return `errno ${errno}`;
    throw error;
  }
}

function codeOf(errno: number): BpfErrorCode {
  switch (errno) {
    case Errno.EPERM:
    case Errno.EACCES:
      return 'BPF_NOT_PERMITTED';
    case Errno.E2BIG:
    case Errno.ENOMEM:
    case Errno.ENOSPC:
      return 'BPF_FULL';
    case Errno.EINVAL:
    case Errno.EOPNOTSUPP:
    case ENOTSUPP:
      return 'BPF_UNSUPPORTED';
    case Errno.ENOENT:
    case Errno.ENODEV:
      return 'BPF_MISSING';
    case Errno.EEXIST:
    case Errno.EBUSY:
      return 'BPF_EXISTS';
    default:
      return 'BPF_FAILED';
  }
}

const NEXT: Readonly<Record<BpfErrorCode, string>> = {
  BPF_OBJECT_INVALID: 'rebuild the eBPF objects with `npm run bpf`, or reinstall the package',
  BPF_OBJECT_MISSING:
    'from source: npm run bpf; otherwise reinstall the package, or use mode nftables',
  BPF_PROGRAM_REFUSED:
    'report it as a bug with the kernel version and the lines above; use another mode meanwhile',
  BPF_KERNEL_LACKS: 'use a newer kernel, or another mode',
  BPF_MAP_DIFFERS: 'remove the pinned map, which another version of Fairlead left, and retry',
  BPF_NOT_PERMITTED:
    'run as root with CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON and CAP_SYS_ADMIN, and check whether the kernel is ' +
    'locked down (/sys/kernel/security/lockdown)',
  BPF_FULL:
    'free memory, or raise the memory limit of the cgroup; before Linux 5.11 also `ulimit -l`',
  BPF_UNSUPPORTED: 'use a newer kernel, or another mode',
  BPF_MISSING: 'check whether another process removed it',
  BPF_EXISTS: 'find its owner with `bpftool link` or `bpftool prog`',
  BPF_FAILED: 'check the kernel log (`dmesg`)',
};
