import type { IpvsSettings } from '../../config/settings.ts';
import { defaultScheduler } from '../../forwarding/scheduler.ts';
import { KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import { withIpvs } from '../../linux/ipvs/ipvs-error.ts';
import {
  type Ipvs,
  type IpvsTimeouts,
  type VirtualServerKey,
  virtualServerId,
} from '../../linux/ipvs/ipvs-model.ts';
import { KernelIpvs } from '../../linux/ipvs/kernel-ipvs.ts';
import { listAddresses } from '../../linux/ipvs/list-addresses.ts';
import { markFlows } from '../../linux/ipvs/mark-flows.ts';
import type { NeededSysctl } from '../../linux/needed-sysctl.ts';
import { kernelSysctls } from '../../linux/sysctl.ts';
import { SysctlError } from '../../linux/sysctl-error.ts';
import { openNetfilter } from '../../modes/netfilter.ts';
import type { Part, Surroundings } from '../../modes/part.ts';
import { Captures } from './plane/capture/captures.ts';
import { IpvsPlane } from './plane/ipvs-plane.ts';
import { flowsThrough } from './plane/kube-proxy/ipvs-flows.ts';
import { KUBE_PROXY_DEVICE } from './plane/kube-proxy/kube-proxy-names.ts';
import { findLeftovers } from './plane/kube-proxy/leftovers.ts';

const FLOWS_DEADLINE_MS = 60_000;

export interface IpvsSurroundings extends Surroundings {
  /** In place of the kernel's own, where faults are planted in what it answers. */
  readonly openIpvs?: () => Ipvs;
}

export const IPVS_PART: Part = {
  name: 'ipvs',
  open: openIpvs,
};

/** What stands in front of nftables. */
export function openIpvs(around: IpvsSurroundings): IpvsPlane {
  const { ipvs: settings, openNetlink = openNetfilter, setSysctl = setForever } = around;
  return new IpvsPlane({
    ipvs: around.openIpvs?.() ?? new KernelIpvs(),
    capture: new Captures({ openNetlink }),
    scheduler: defaultScheduler(settings?.scheduler ?? 'rr'),
    onWarning: around.onWarning,
    timeouts: () => timeoutsOf(settings),
    markConnections: async (servers, bits) => {
      await markFlows(await flowsOf(servers), bits);
    },
    forgetConnections: async (servers) => {
      await new KernelConntrack().remove(await flowsOf(servers));
    },
    servedByKubeProxy: async () => {
      const { servers } = await findLeftovers(new KernelIpvs());
      return new Set(servers.map(({ server }) => virtualServerId(server)));
    },
    readOwn: async () => {
      const all = (await listAddresses()).filter((each) => each.interface !== KUBE_PROXY_DEVICE);
      return new Set(all.map(({ address }) => address));
    },
    prepare: async () => {
      for (const each of IPVS_SYSCTLS) await setSysctl(each);
    },
  });
}

async function flowsOf(servers: readonly VirtualServerKey[]): Promise<readonly Flow[]> {
  const signal = AbortSignal.timeout(FLOWS_DEADLINE_MS);
  return await flowsThrough(servers, new KernelConntrack(), signal);
}

/**
 * Loads IPVS, so that its settings exist. A kernel without it is no failure of the preparation: the
 * plane reports it, and falls back to the rules behind.
 */
export async function prepareIpvs({ setSysctl = setForever }: Surroundings): Promise<void> {
  if ((await withIpvs(() => new KernelIpvs().timeouts(), undefined)) === undefined) return;
  for (const each of IPVS_SYSCTLS) await setSysctl(each);
}

/** What is configured, and conntrack's for the rest. */
function timeoutsOf(settings: IpvsSettings | undefined): IpvsTimeouts {
  const { tcpSeconds, tcpFinSeconds, udpSeconds } = conntrackTimeouts();
  return {
    tcpSeconds: secondsOf(settings?.tcpTimeoutMs) || tcpSeconds,
    tcpFinSeconds: secondsOf(settings?.tcpFinTimeoutMs) || tcpFinSeconds,
    udpSeconds: secondsOf(settings?.udpTimeoutMs) || udpSeconds,
  };
}

function secondsOf(ms = 0): number {
  return Math.ceil(ms / 1000);
}

/** Without a program that keeps earlier values for a cleanup. */
async function setForever({ name, value }: (typeof IPVS_SYSCTLS)[number]): Promise<void> {
  kernelSysctls().write(name, value);
}

/** They exist only after IPVS was used, so the plane sets them and not the start of the program. */
const IPVS_SYSCTLS: readonly NeededSysctl[] = [
  {
    name: 'net/ipv4/vs/conntrack',
    value: '1',
    otherwise: 'connections through IPVS are neither masqueraded nor found by conntrack',
  },
  {
    name: 'net/ipv4/vs/expire_nodest_conn',
    value: '1',
    otherwise: 'packets to a removed endpoint are dropped silently',
  },
  {
    name: 'net/ipv4/vs/expire_quiescent_template',
    value: '1',
    otherwise: 'session affinity keeps clients at removed endpoints',
  },
  {
    name: 'net/ipv4/vs/conn_reuse_mode',
    value: '1',
    otherwise: 'a reused source port may lead to a removed endpoint',
  },
];

const CONNTRACK = 'net/netfilter/nf_conntrack_';

/** As conntrack's: IPVS alone would forget an idle TCP connection after 15 minutes. */
function conntrackTimeouts(): IpvsTimeouts {
  return {
    tcpSeconds: seconds('tcp_timeout_established'),
    tcpFinSeconds: seconds('tcp_timeout_fin_wait'),
    udpSeconds: seconds('udp_timeout_stream'),
  };
}

/** 0: conntrack is not loaded yet. */
function seconds(name: string): number {
  try {
    return Number(kernelSysctls().read(CONNTRACK + name));
  } catch (error) {
    if (error instanceof SysctlError && error.code === 'SYSCTL_MISSING') return 0;
    throw error;
  }
}
