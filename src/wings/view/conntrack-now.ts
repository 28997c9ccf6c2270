import { conntrackFill } from '../../linux/conntrack/table-fill.ts';
import { conntrackLosses } from '../../linux/conntrack/table-use.ts';
import { kernelSysctls, type Sysctls } from '../../linux/sysctl.ts';
import type { ConntrackNow } from './protocol/tick.ts';

/** How full conntrack is. Undefined: this kernel has none. */
export function conntrackNow(sysctls: Sysctls = kernelSysctls()): ConntrackNow | undefined {
  const fill = conntrackFill(sysctls);
  if (fill === undefined) return undefined;
  const losses = conntrackLosses();
  return {
    entries: fill.entries,
    max: fill.limit,
    ...(losses === undefined
      ? {}
      : {
          insertFailed: losses.insertFailed,
          earlyDrop: losses.earlyDrop,
          dropped: losses.drop,
        }),
  };
}
