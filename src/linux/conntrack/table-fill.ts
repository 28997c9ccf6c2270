import type { Sysctls } from '../sysctl.ts';
import { SysctlError } from '../sysctl-error.ts';

/** Undefined: the kernel does not track connections here, or does not let this process see it. */
export function conntrackFill(
  sysctls: Pick<Sysctls, 'read'>,
): { readonly entries: number; readonly limit: number } | undefined {
  try {
    return {
      entries: Number(sysctls.read('net/netfilter/nf_conntrack_count')),
      limit: Number(sysctls.read('net/netfilter/nf_conntrack_max')),
    };
  } catch (error) {
    if (error instanceof SysctlError) return undefined;
    throw error;
  }
}
