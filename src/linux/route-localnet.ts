import type { SysctlChange, Sysctls } from './sysctl.ts';
import { readSysctlState, withChanges, writeSysctlState } from './sysctl-state.ts';

const NAME = 'net/ipv4/conf/all/route_localnet';

/**
 * Sets route_localnet, so that packets from 127.0.0.1 can be forwarded. The previous value is saved
 * in `statePath` for cleanup.
 */
export async function routeLocalnet(
  sysctls: Sysctls,
  statePath: string,
): Promise<SysctlChange | undefined> {
  const change = sysctls.write(NAME, '1');
  if (change === undefined) return undefined;
  await writeSysctlState(statePath, withChanges(await readSysctlState(statePath), [change]));
  return change;
}
