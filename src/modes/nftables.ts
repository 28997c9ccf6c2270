import type { FailureNames } from '../agent/metrics/kube-proxy-metrics.ts';
import { TABLE_OF_FAMILY } from '../dataplanes/nftables/nftables-chains.ts';
import { NftablesPlane } from '../dataplanes/nftables/nftables-plane.ts';
import { renderTable } from '../dataplanes/nftables/render-nftables.ts';
import { tableContent } from '../dataplanes/nftables/table-content.ts';
import type { DesiredTables } from '../dataplanes/nftables/table-facts.ts';
import type { Family } from '../forwarding/model.ts';
import { KernelConntrack } from '../linux/conntrack/conntrack.ts';
import type { Mode } from './mode.ts';
import { openNetfilter } from './netfilter.ts';
import { nftablesPages } from './pages/nftables-pages.ts';
import type { Part } from './part.ts';
import { nftablesProof } from './proof/nftables-proof.ts';
import { NETLINK_NEEDS } from './service-needs.ts';

export const NFTABLES_PART: Part = {
  name: 'nftables',
  open: ({ openNetlink = openNetfilter }) => new NftablesPlane({ openNetlink }),
};

/** As kube-proxy counts in nftables mode. */
export const NFTABLES_FAILURES: FailureNames = {
  writes: 'nftables_sync_failures_total',
  cleanups: 'nftables_cleanup_failures_total',
};

export const NFTABLES: Mode = {
  name: 'nftables',
  service: NETLINK_NEEDS,
  parts: [NFTABLES_PART],
  open: (around) => ({ plane: NFTABLES_PART.open(around) }),
  flows: () => new KernelConntrack(),
  pages: nftablesPages,
  raw: rawTable,
  proof: nftablesProof(({ facts }) => facts),
  failureMetrics: NFTABLES_FAILURES,
  readsAttachmentsCheaply: true,
};

/** What `nft list table` would print. */
export function rawTable(desired: DesiredTables, family: Family): string {
  return renderTable(tableContent(desired, TABLE_OF_FAMILY[family]));
}
