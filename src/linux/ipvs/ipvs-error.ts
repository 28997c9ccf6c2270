export type IpvsErrorCode =
  /** The kernel has no IPVS, and no module of it to load. */
  'IPVS_MISSING';

/** Why IPVS cannot be used at all. */
export class IpvsError extends Error {
  override readonly name = 'IpvsError';
  readonly code: IpvsErrorCode;
  readonly next: string;

  constructor(code: IpvsErrorCode, more: { readonly cause?: unknown } = {}) {
    super(MESSAGE[code], { cause: more.cause });
    this.code = code;
    this.next = NEXT[code];
  }
}

const MESSAGE: Readonly<Record<IpvsErrorCode, string>> = {
  IPVS_MISSING: 'this kernel has no IPVS',
};

const NEXT: Readonly<Record<IpvsErrorCode, string>> = {
  IPVS_MISSING:
    'load the module with `modprobe ip_vs` on the machine (CONFIG_IP_VS), install the package that ' +
    'has it, or use another mode',
};

/** `otherwise` where the kernel has no IPVS, and so nothing in it. */
export async function withIpvs<T, U>(work: () => Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof IpvsError && error.code === 'IPVS_MISSING') return otherwise;
    throw error;
  }
}
