export type SysctlErrorCode =
  /** This kernel, or this network namespace, has no such setting. */
  | 'SYSCTL_MISSING'
  /** Readable, but not writable for this process. */
  | 'SYSCTL_DENIED'
  /** /proc/sys is mounted read-only. */
  | 'SYSCTL_READ_ONLY'
  /** The kernel rejects this value. */
  | 'SYSCTL_REFUSED'
  | 'SYSCTL_FAILED'
  /** The file with saved values cannot be read or written, or is invalid. */
  | 'SYSCTL_STATE';

/** A failure to read or set a sysctl. */
export class SysctlError extends Error {
  override readonly name = 'SysctlError';
  readonly code: SysctlErrorCode;
  readonly next: string;

  constructor(
    code: SysctlErrorCode,
    message: string,
    more: { readonly next: string; readonly cause?: unknown },
  ) {
    super(message, { cause: more.cause });
    this.code = code;
    this.next = more.next;
  }
}

/** The error of a failed read or write of a sysctl. */
export function sysctlError(what: string, cause: unknown): SysctlError {
  const code = codeOf(systemCode(cause));
  const reason = systemCode(cause) ?? 'unknown reason';
  return new SysctlError(code, `cannot ${what}: ${reason}`, { next: NEXT[code], cause });
}

/** The code that Node gives its own errors, if this is one. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function codeOf(system: string | undefined): Exclude<SysctlErrorCode, 'SYSCTL_STATE'> {
  switch (system) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'SYSCTL_MISSING';
    case 'EACCES':
    case 'EPERM':
      return 'SYSCTL_DENIED';
    case 'EROFS':
      return 'SYSCTL_READ_ONLY';
    case 'EINVAL':
    case 'ERANGE':
    case 'EOPNOTSUPP':
    case 'ENOTSUP':
      return 'SYSCTL_REFUSED';
    default:
      return 'SYSCTL_FAILED';
  }
}

const NEXT: Readonly<Record<Exclude<SysctlErrorCode, 'SYSCTL_STATE'>, string>> = {
  SYSCTL_MISSING:
    'load the kernel module that has it (`modprobe nf_conntrack` for net/netfilter), or run in the ' +
    'network namespace of the machine: some settings exist only there',
  SYSCTL_DENIED:
    'run as root with CAP_NET_ADMIN in the network namespace of the machine: kernel-wide limits ' +
    'can be set only there',
  SYSCTL_READ_ONLY: 'run the container privileged, or set the value on the machine with sysctl.d',
  SYSCTL_REFUSED: 'fix the value in the configuration',
  SYSCTL_FAILED: 'set it manually with `sysctl -w` to see why it fails',
};
