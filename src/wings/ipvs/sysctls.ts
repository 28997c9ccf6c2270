import type { IpvsTimeouts } from '../../linux/ipvs/model.ts';
import type { NeededSysctl } from '../../linux/needed-sysctl.ts';
import { kernelSysctls } from '../../linux/sysctl.ts';
import { SysctlError } from '../../linux/sysctl-error.ts';

/** They exist only after IPVS was used, so the plane sets them and not the start of the program. */
export const IPVS_SYSCTLS: readonly NeededSysctl[] = [
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
export function conntrackTimeouts(): IpvsTimeouts {
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
