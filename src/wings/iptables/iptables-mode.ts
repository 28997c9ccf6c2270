import type { Desired } from '../../dataplanes/contract.ts';
import type { Family } from '../../forwarding/model.ts';
import { KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import { BACKENDS, programName } from '../../linux/xtables/iptables-programs.ts';
import type { Mode } from '../../modes/mode.ts';
import { openNetfilter } from '../../modes/netfilter.ts';
import type { Part, Surroundings } from '../../modes/part.ts';
import { NETLINK_NEEDS } from '../../modes/service-needs.ts';
import { IptablesMetrics } from './iptables-metrics.ts';
import { iptablesPages } from './iptables-pages.ts';
import { IPTABLES_PROOF } from './iptables-proof.ts';
import type { PacketCounter } from './packet-metrics.ts';
import { readPacketCounts } from './plane/packet-counts.ts';
import { IptablesPlane } from './plane/plane.ts';
import { renderedTables, restoreText, USUAL_ABILITIES } from './plane/render.ts';

export const IPTABLES_PART: Part = {
  name: 'iptables',
  open: openIptables,
};

function openIptables(around: Surroundings): IptablesPlane {
  const { onWarning, serveLocalhost, openNetlink = openNetfilter } = around;
  return new IptablesPlane({
    openNetlink,
    ...(serveLocalhost ? { serveLocalhost } : {}),
    onOtherBackend: (backend) =>
      onWarning?.(`the tables of iptables-${backend} hold rules of kube-proxy or Fairlead too`),
  });
}

export const IPTABLES: Mode = {
  name: 'iptables',
  // The legacy backend uses a raw socket, and a lock file that all programs share.
  service: {
    ...NETLINK_NEEDS,
    capabilities: ['NET_ADMIN', 'NET_RAW'],
    // The legacy backend does without nf_tables.
    kernel: ['nf_conntrack'],
    sharedFile: '/run/xtables.lock',
    programs: BACKENDS.map(programName),
  },
  parts: [IPTABLES_PART],
  open: (around) => {
    const plane = openIptables(around);
    const readings = { ruleCounts: () => plane.ruleCounts(), packetCounters: readCounters };
    return { plane, series: (set) => new IptablesMetrics(set, readings) };
  },
  flows: () => new KernelConntrack(),
  pages: iptablesPages,
  raw: restoreInput,
  leavesAlone: {
    unknownPorts: true,
    ownPacketsToExternalIPs: true,
    limitsWithoutEndpoints: true,
  },
  proof: IPTABLES_PROOF,
  failureMetrics: {
    writes: 'iptables_restore_failures_total',
    partialWrites: 'iptables_partial_restore_failures_total',
  },
  usesKubeProxyChains: true,
  readsAttachmentsCheaply: false,
};

/** As kube-proxy counts in iptables mode. */
async function readCounters(): Promise<readonly PacketCounter[]> {
  const { invalidDropped, localhostAccepted } = await readPacketCounts(openNetfilter);
  return [
    {
      name: 'kubeproxy_iptables_ct_state_invalid_dropped_packets_total',
      help: 'Packets dropped because conntrack considers them invalid',
      count: invalidDropped,
    },
    {
      name: 'kubeproxy_iptables_localhost_nodeports_accepted_packets_total',
      help: 'Packets accepted for node ports on loopback',
      count: localhostAccepted,
    },
  ];
}

function restoreInput({ facts, rows }: Desired, family: Family): string {
  const tables = renderedTables(rows, { facts, abilities: USUAL_ABILITIES }, family);
  const program = family === 'IPv4' ? 'iptables' : 'ip6tables';
  return `# for ${program}-restore --noflush\n${restoreText(tables)}`;
}
