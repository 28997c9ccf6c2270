import { join } from 'node:path';
import { contains, parseCidr } from '../../addresses/cidr.ts';
import { parseIp } from '../../addresses/ip.ts';
import { SYSCTL_STATE } from '../../config/run-folder.ts';
import type { NodePortSettings, Settings } from '../../config/settings.ts';
import { effectiveCapabilities } from '../../linux/capabilities.ts';
import { onlineCpuCount, setConntrackLimits } from '../../linux/conntrack-limits.ts';
import { type NeededSysctl, setNeeded } from '../../linux/needed-sysctl.ts';
import { setOomScore } from '../../linux/process-limits.ts';
import { routeLocalnet } from '../../linux/route-localnet.ts';
import { kernelSysctls, type Sysctls } from '../../linux/sysctl.ts';
import { SysctlError } from '../../linux/sysctl-error.ts';
import type { Logger } from '../../log/logger.ts';
import { CommandError } from '../command-error.ts';

export interface MachineContext {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Where earlier values of changed sysctls are kept. */
  readonly runFolder: string;
  readonly sysctls?: Sysctls;
}

/** Checked first: no mode can write without it, and its own errors would be less specific. */
export function assertNetAdmin(held = effectiveCapabilities()): void {
  if (held.has('NET_ADMIN')) return;
  throw new CommandError('cannot change rules: this process lacks CAP_NET_ADMIN', {
    code: 'NOT_PERMITTED',
    next: 'run as root; in a container add NET_ADMIN to its capabilities, as deploy/manifests does',
  });
}

/** Sets the conntrack limits, what the mode needs, and the OOM score. */
export async function prepareMachine(
  settings: Settings,
  context: MachineContext,
  needed: readonly NeededSysctl[] = [],
): Promise<void> {
  const { log, sysctls = kernelSysctls() } = context;
  await setOomScore({
    score: settings.oomScoreAdj,
    onProblem: ({ code, message, next }) => log.warn({ code }, `${message}; ${next}`),
  });
  const { changes, problems } = await setConntrackLimits(
    { ...settings.conntrack, cpuCount: onlineCpuCount() },
    sysctls,
    join(context.runFolder, SYSCTL_STATE),
  );
  for (const { name, before, after } of changes) log.info({ name, before, after }, 'set sysctl');
  for (const problem of problems) log.warn({ code: problem.code }, problem.message);
  for (const each of needed) await setNeededSysctl(each, context);
}

/** In an unprivileged container it cannot be written; that is no reason not to serve. */
export async function setNeededSysctl(
  needed: NeededSysctl,
  context: MachineContext,
): Promise<void> {
  const { log, runFolder, sysctls = kernelSysctls() } = context;
  try {
    const change = await setNeeded(needed, sysctls, join(runFolder, SYSCTL_STATE));
    if (change) log.info({ ...change }, 'set sysctl');
  } catch (error) {
    if (!(error instanceof SysctlError)) throw error;
    log.warn({ code: error.code }, `${needed.otherwise}: ${error.message}; ${error.next}`);
  }
}

/**
 * Returns the function to call before node ports are served on loopback. Where the sysctl cannot be
 * written, as in an unprivileged container, they do not work there; it is logged once, and everything
 * else is served.
 */
export function localhostServer(context: MachineContext): () => Promise<void> {
  const { log, runFolder, sysctls = kernelSysctls() } = context;
  let told = '';
  return async () => {
    try {
      const change = await routeLocalnet(sysctls, join(runFolder, SYSCTL_STATE));
      if (change) log.info({ ...change }, 'set sysctl');
    } catch (error) {
      if (!(error instanceof SysctlError)) throw error;
      const message = `node ports are not served on 127.0.0.1: ${error.message}; ${error.next}`;
      if (message !== told) log.warn({ code: error.code }, message);
      told = message;
    }
  };
}

/** From the configuration alone: the addresses of the machine are not known yet. */
export function asksForLocalhost({ addresses, onLocalhost }: NodePortSettings): boolean {
  if (!onLocalhost || addresses === 'none') return false;
  if (addresses === 'all') return true;
  const localhost = parseIp('127.0.0.1');
  const ranges = addresses.flatMap((text) => parseCidr(text) ?? []);
  const ofIpv4 = ranges.filter(({ base }) => base.version === 4);
  if (ofIpv4.length === 0) return !addresses.includes('primary');
  return localhost !== undefined && ofIpv4.some((range) => contains(range, localhost));
}
