import { IpvsError } from '../../linux/ipvs/errors.ts';
import type { Ipvs } from '../../linux/ipvs/model.ts';
import type { NeededSysctl } from '../../linux/needed-sysctl.ts';
import { IPVS_SYSCTLS } from './sysctls.ts';

/** Loads the kernel module and sets what IPVS needs, for a proxy that may not write sysctls itself. */
export async function prepareIpvs(
  ipvs: Pick<Ipvs, 'timeouts'>,
  setSysctl: (needed: NeededSysctl) => Promise<void>,
): Promise<void> {
  try {
    // Any request loads the module, and the settings exist only then.
    await ipvs.timeouts();
  } catch (error) {
    // The proxy reports it, and serves by nftables: no reason not to start.
    if (error instanceof IpvsError) return;
    throw error;
  }
  for (const each of IPVS_SYSCTLS) await setSysctl(each);
}
