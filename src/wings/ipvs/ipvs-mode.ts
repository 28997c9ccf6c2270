import { defaultScheduler } from '../../forwarding/scheduler.ts';
import { KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import { KernelIpvs } from '../../linux/ipvs/kernel-ipvs.ts';
import type { Mode } from '../../modes/mode.ts';
import { openNetfilter } from '../../modes/netfilter.ts';
import { NFTABLES_FAILURES, NFTABLES_PART, rawTable } from '../../modes/nftables.ts';
import { openTwoParts } from '../../modes/open-parts.ts';
import { nftablesProof } from '../../modes/proof/nftables-proof.ts';
import { NETLINK_NEEDS } from '../../modes/service-needs.ts';
import { systemClock } from '../../time/clock.ts';
import { ipvsFields } from './ipvs-fields.ts';
import { IpvsMetrics } from './ipvs-metrics.ts';
import { ipvsPages, rawIpvs } from './ipvs-pages.ts';
import { IPVS_PART, type IpvsSurroundings, openIpvs, prepareIpvs } from './ipvs-part.ts';
import { openOwnSockets } from './own-sockets.ts';
import { TABLE_NAME as CAPTURE_TABLE_NAME } from './plane/capture/capture-sets.ts';
import { Captures } from './plane/capture/captures.ts';
import { IpvsFlows } from './plane/ipvs-flow-table.ts';
import { unevenChoiceOf } from './scheduler-words.ts';

const BEHIND = nftablesProof(({ facts }) => facts);

export const IPVS: Mode = {
  name: 'ipvs',
  service: { ...NETLINK_NEEDS, kernel: [...NETLINK_NEEDS.kernel, 'ip_vs'] },
  parts: [IPVS_PART, NFTABLES_PART],
  prepare: async (_, around) => await prepareIpvs(around),
  open: (around) => {
    const openNetlink = openOwnSockets(around.openNetlink ?? openNetfilter);
    const ipvs = openIpvs({ ...around, openNetlink });
    const front = { ...IPVS_PART, open: () => ipvs };
    const read = () => ipvs.report();
    return {
      plane: openTwoParts(
        { mode: 'ipvs', front, behind: NFTABLES_PART },
        { ...around, openNetlink },
      ),
      statusFields: async (atMs) => await ipvsFields(read, atMs),
      series: (set) => new IpvsMetrics(set, { read, clock: systemClock }),
      adoptServers: (servers) => ipvs.adopt(servers),
    };
  },
  flows: ({ openIpvs, openNetlink = openNetfilter }: IpvsSurroundings) =>
    new IpvsFlows({
      conntrack: new KernelConntrack(),
      ipvs: openIpvs?.() ?? new KernelIpvs(),
      capture: new Captures({ openNetlink }),
    }),
  pages: (desired, isWanted, { ipvs }) =>
    ipvsPages(desired, isWanted, defaultScheduler(ipvs.scheduler)),
  raw: (desired, family, { ipvs }) =>
    rawTable(desired, family) + rawIpvs(desired, family, defaultScheduler(ipvs.scheduler)),
  proof: {
    ...BEHIND,
    isOurs: (rule) => BEHIND.isOurs(rule) || rule.table === CAPTURE_TABLE_NAME,
    // A reset does not take IPVS out of SYN_RECV, and an entry cannot be deleted.
    leftBehind: 'a connection of IPVS until it times out (TCP 60 s, UDP 2 min by default)',
  },
  unevenChoice: ({ ipvs }) => unevenChoiceOf(defaultScheduler(ipvs.scheduler)),
  failureMetrics: NFTABLES_FAILURES,
  readsAttachmentsCheaply: true,
};
