import { RUN_FOLDER } from '../../config/run-folder.ts';
import { JoinedFlows } from '../../flows/joined.ts';
import { KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import { TIME_WAIT_REUSE } from '../../linux/needed-sysctl.ts';
import type { Mode } from '../../modes/mode.ts';
import { NFTABLES_FAILURES, NFTABLES_PART, rawTable } from '../../modes/nftables.ts';
import { openTwoParts } from '../../modes/open-parts.ts';
import { nftablesProof } from '../../modes/proof/nftables-proof.ts';
import { NETLINK_NEEDS } from '../../modes/service-needs.ts';
import { ForwarderMetrics } from './forwarder-metrics.ts';
import { FORWARDER_PART, openForwarder, openHandingOver } from './forwarder-part.ts';
import { connectedByForwarder } from './forwarder-record.ts';
import { ForwarderFlows, LISTENER_ADDRESSES, readConnections } from './plane/forwarder-flows.ts';
import { userspacePages } from './userspace-pages.ts';

export const USERSPACE: Mode = {
  name: 'userspace',
  service: { ...NETLINK_NEEDS, leavesProcess: true },
  parts: [FORWARDER_PART, NFTABLES_PART],
  // Every connection to an endpoint leaves one of our ports in TIME_WAIT.
  sysctls: [TIME_WAIT_REUSE],
  open: (around) => {
    const rules = openHandingOver(around);
    const forwarder = openForwarder(around, rules);
    const front = { ...FORWARDER_PART, open: () => forwarder };
    const behind = { ...NFTABLES_PART, open: () => rules };
    return {
      plane: openTwoParts({ mode: 'userspace', front, behind }, around),
      statusFields: async () => ({ forwarder: await forwarder.report() }),
      series: (set) => new ForwarderMetrics(set, () => forwarder.report()),
      drained: () => forwarder.drained(),
    };
  },
  flows: ({ runFolder = RUN_FOLDER }) =>
    new JoinedFlows([new KernelConntrack(), new ForwarderFlows(runFolder)]),
  pages: userspacePages,
  raw: ({ facts, rows }, family) =>
    rawTable({ facts: { ...facts, handsOver: true }, rows }, family),
  copied: { addresses: LISTENER_ADDRESSES, read: readConnections },
  proof: {
    ...nftablesProof(({ facts }) => ({ ...facts, handsOver: true })),
    // A SYN alone does not make the forwarder connect to an endpoint.
    usualTcpProbe: 'connect',
    processAddresses: LISTENER_ADDRESSES,
    connectedTo: connectedByForwarder,
  },
  madeBy:
    () =>
    ({ row }) =>
      row.id.protocol === 'TCP' ? 'process' : undefined,
  failureMetrics: NFTABLES_FAILURES,
  readsAttachmentsCheaply: true,
};
