import { KernelIpvs } from '../../linux/ipvs/kernel-ipvs.ts';
import type { RemoveKubeProxyIpvs } from '../../modes/wing.ts';
import { systemClock } from '../../time/clock.ts';
import { takeOverIpvs } from './plane/kube-proxy/take-over.ts';

/**
 * Removes the virtual servers, the device and the sets of a kube-proxy that ran here in ipvs mode.
 * Call it after the first sync, when its chains of iptables are gone.
 */
export const removeKubeProxyIpvs: RemoveKubeProxyIpvs = async (parts, signal) => {
  const { opened, log } = parts;
  const adopt = opened.adoptServers?.bind(opened);
  try {
    await takeOverIpvs(
      {
        ipvs: new KernelIpvs(),
        ...(adopt ? { adopt } : {}),
        excludeCidrs: parts.ipvs.excludeCidrs,
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
};
