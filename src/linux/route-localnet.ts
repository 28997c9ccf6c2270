import { setNeeded } from './needed-sysctl.ts';
import type { SysctlChange, Sysctls } from './sysctl.ts';

const NAME = 'net/ipv4/conf/all/route_localnet';

/**
 * Sets route_localnet, so that packets from 127.0.0.1 can be forwarded. The previous value is saved
 * in `statePath` for cleanup.
 */
export async function routeLocalnet(
  sysctls: Sysctls,
  statePath: string,
): Promise<SysctlChange | undefined> {
  return await setNeeded({ name: NAME, value: '1' }, sysctls, statePath);
}
