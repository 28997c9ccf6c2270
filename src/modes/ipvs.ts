import { IpvsFlows } from '../dataplanes/ipvs/flows.ts';
import { defaultScheduler } from '../forwarding/scheduler.ts';
import { KernelConntrack } from '../linux/conntrack/conntrack.ts';
import { KernelIpvs } from '../linux/ipvs/kernel-ipvs.ts';
import { IPVS_PART } from './ipvs/ipvs-part.ts';
import { prepareIpvs } from './ipvs/prepare.ts';
import type { Mode } from './mode.ts';
import { NFTABLES_FAILURES, NFTABLES_PART, rawTable } from './nftables.ts';
import { openTwoParts } from './open-parts.ts';
import { ipvsPages, rawIpvs } from './pages/ipvs-pages.ts';
import { NETLINK_NEEDS } from './service-needs.ts';

export const IPVS: Mode = {
  name: 'ipvs',
  // Each address of the machine has a virtual server for each node port.
  needs: { ownAddresses: true, namespaces: false },
  service: NETLINK_NEEDS,
  parts: [IPVS_PART, NFTABLES_PART],
  prepare: (_, setSysctl) => prepareIpvs(new KernelIpvs(), setSysctl),
  open: (around) => openTwoParts({ mode: 'ipvs', front: IPVS_PART, behind: NFTABLES_PART }, around),
  flows: (around) => new IpvsFlows(new KernelConntrack(), around.openIpvs?.() ?? new KernelIpvs()),
  pages: (desired, isWanted, { ipvs }) =>
    ipvsPages(desired, isWanted, defaultScheduler(ipvs.scheduler)),
  raw: (desired, family, { ipvs }) =>
    rawTable(desired, family) + rawIpvs(desired, family, defaultScheduler(ipvs.scheduler)),
  failureMetrics: NFTABLES_FAILURES,
  readsAttachmentsCheaply: true,
};
