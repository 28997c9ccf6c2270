import type { SysctlChange, Sysctls } from './sysctl.ts';
import { readSysctlState, withChanges, writeSysctlState } from './sysctl-state.ts';

/** A setting of the kernel that a mode needs. */
export interface NeededSysctl {
  /** As a path below /proc/sys/net. */
  readonly name: string;
  readonly value: string;
  /** What goes wrong without it, for people: the begin of a sentence. */
  readonly otherwise: string;
}

/** Sets it, and saves the previous value in `statePath` for cleanup. Undefined: it was so already. */
export async function setNeeded(
  { name, value }: Pick<NeededSysctl, 'name' | 'value'>,
  sysctls: Sysctls,
  statePath: string,
): Promise<SysctlChange | undefined> {
  const change = sysctls.write(name, value);
  if (change === undefined) return undefined;
  await writeSysctlState(statePath, withChanges(await readSysctlState(statePath), [change]));
  return change;
}

/**
 * A process that closes connections to an endpoint first keeps their ports for a minute. By this a
 * port is used again after a second.
 */
export const TIME_WAIT_REUSE: NeededSysctl = {
  name: 'net/ipv4/tcp_tw_reuse',
  value: '1',
  otherwise: 'an endpoint can get at most 28,000 connections a minute from the forwarder',
};
