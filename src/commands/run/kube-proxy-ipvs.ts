import type { IpvsSettings } from '../../config/settings.ts';
import type { DataPlane } from '../../dataplanes/contract.ts';
import { takeOverIpvs } from '../../wings/ipvs/plane/kube-proxy/take-over.ts';
import { KernelIpvs } from '../../linux/ipvs/kernel-ipvs.ts';
import type { Logger } from '../../log/logger.ts';
import { systemClock } from '../../time/clock.ts';

/**
 * Removes the virtual servers, the device and the sets of a kube-proxy that ran here in ipvs mode.
 * Call it after the first sync, when its chains of iptables are gone.
 */
export async function removeKubeProxyIpvs(
  of: {
    readonly plane: Pick<DataPlane, 'adopt'>;
    readonly log: Pick<Logger, 'info' | 'warn'>;
    readonly ipvs: Pick<IpvsSettings, 'excludeCidrs'>;
  },
  signal: AbortSignal,
): Promise<void> {
  const { plane, log } = of;
  const adopt = plane.adopt?.bind(plane);
  try {
    await takeOverIpvs(
      {
        ipvs: new KernelIpvs(),
        ...(adopt ? { adopt } : {}),
        excludeCidrs: of.ipvs.excludeCidrs,
        clock: systemClock,
        onFound: ({ hasDevice, ipsets, servers }) =>
          log.info(
            { virtualServers: servers.length, ipsets: ipsets.length, device: hasDevice },
            'removing what kube-proxy in ipvs mode has left',
          ),
      },
      signal,
    );
  } catch (error) {
    // Leftovers are no reason to stop.
    log.warn(
      `cannot remove what kube-proxy in ipvs mode has left, which nothing keeps up to date: ${String(error)}; remove it: kube-proxy --cleanup`,
    );
  }
}
