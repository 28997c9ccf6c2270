import type { SysctlChange, Sysctls } from './sysctl.ts';
import { readSysctlState, withChanges, writeSysctlState } from './sysctl-state.ts';

const NAME = 'net/ipv4/conf/all/route_localnet';

/**
 * Lets packets from 127.0.0.1 be led to another machine. What was there before is remembered in
 * the file at `statePath`, for whoever cleans up.
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
