import { conntrackLosses } from '../../linux/conntrack/table-use.ts';
import { kernelSysctls, type Sysctls } from '../../linux/sysctl.ts';
import { SysctlError } from '../../linux/sysctl-error.ts';
import type { ConntrackNow } from './protocol/tick.ts';

/** How full conntrack is. Undefined: this kernel has none. */
export function conntrackNow(sysctls: Sysctls = kernelSysctls()): ConntrackNow | undefined {
  try {
    const losses = conntrackLosses();
    return {
      entries: Number(sysctls.read('net/netfilter/nf_conntrack_count')),
      max: Number(sysctls.read('net/netfilter/nf_conntrack_max')),
      ...(losses === undefined
        ? {}
        : {
            insertFailed: losses.insertFailed,
            earlyDrop: losses.earlyDrop,
            dropped: losses.drop,
          }),
    };
  } catch (error) {
    if (error instanceof SysctlError) return undefined;
    throw error;
  }
}
