import { setTimeout as sleep } from 'node:timers/promises';
import { RUN_FOLDER } from '../../config/run-folder.ts';
import type { Desired } from '../../dataplanes/contract.ts';
import { JoinedFlows } from '../../flows/joined.ts';
import { endpointKey } from '../../forwarding/endpoints.ts';
import type { Forwarding } from '../../forwarding/model.ts';
import { KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import { TIME_WAIT_REUSE } from '../../linux/needed-sysctl.ts';
import type { Mode } from '../../modes/mode.ts';
import { NFTABLES_FAILURES, NFTABLES_PART, rawTable } from '../../modes/nftables.ts';
import { openTwoParts } from '../../modes/open-parts.ts';
import { nftablesPages } from '../../modes/pages/nftables-pages.ts';
import type { Page } from '../../modes/pages/rendered-page.ts';
import type { ModeProof, ProcessConnection } from '../../modes/proof/mode-proof.ts';
import { nftablesProof } from '../../modes/proof/nftables-proof.ts';
import { NETLINK_NEEDS } from '../../modes/service-needs.ts';
import { ForwarderMetrics } from './forwarder-metrics.ts';
import { FORWARDER_PART, openForwarder, openHandingOver } from './forwarder-part.ts';
import { forwarderWords } from './forwarder-words.ts';
import { ForwarderFlows, LISTENER_ADDRESSES, readConnections } from './plane/forwarder-flows.ts';

/** A dial to another node takes milliseconds; one that takes longer has met an endpoint that is silent. */
const DEADLINE_MS = 2000;
const POLL_MS = 20;
const MOST_CONNECTIONS = 100_000;

/** Reads the forwarder's own record of a connection, until it has reached an endpoint. */
const connectedByForwarder: NonNullable<ModeProof['connectedTo']> = async (connection) => {
  const { runFolder, client, signal } = connection;
  const name = `${client.address} ${client.port}`;
  const endMs = performance.now() + DEADLINE_MS;
  while (performance.now() < endMs && !signal.aborted) {
    const found = await readConnections({ runFolder, most: MOST_CONNECTIONS });
    const own = found?.first.find((each) => each.client === name);
    if (own !== undefined && own.state !== 'dialling') return connectionOf(own);
    await sleep(POLL_MS);
  }
  return undefined;
};

function connectionOf({ source, endpoint }: ProcessConnection): ProcessConnection {
  return { source: keyOf(source), endpoint: keyOf(endpoint) };
}

/** From `address port`. */
function keyOf(text: string): string {
  const [address = '', port = ''] = text.split(' ');
  return endpointKey({ address, port: Number(port) });
}

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

/** The rules, with those that hand over, and in words what the forwarder does then. */
export function userspacePages(desired: Desired, isWanted: (row: Forwarding) => boolean): Page[] {
  const tables = { ...desired, facts: { ...desired.facts, handsOver: true } as const };
  return nftablesPages(tables, isWanted).map((page) => {
    const isTcp = page.forwarding.id.protocol === 'TCP';
    return {
      ...page,
      table: `${page.table}, ${isTcp ? 'behind' : 'without'} the forwarder`,
      words: forwarderWords(page.forwarding),
    };
  });
}
