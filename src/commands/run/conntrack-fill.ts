import type { ConntrackFill } from '../../agent/metrics/conntrack-metrics.ts';
import type { Sysctls } from '../../linux/sysctl.ts';
import { SysctlError } from '../../linux/sysctl-error.ts';

/** Undefined: the kernel does not track connections here, or does not let this process see it. */
export function conntrackFill(sysctls: Pick<Sysctls, 'read'>): ConntrackFill | undefined {
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
