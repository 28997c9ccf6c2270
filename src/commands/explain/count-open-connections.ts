import type { AgentNode } from '../../agent/servers/agent-node.ts';
import { PlaneError } from '../../dataplanes/contract.ts';
import { type OpenConnection, type OpenCounts, OpenTally } from '../../explain/open-connections.ts';
import type { OwnedFrontend } from '../../flows/owners.ts';
import { translatedFlows } from '../../flows/translated.ts';
import type { ServicePortKey } from '../../forwarding/model.ts';
import type { Change } from '../../forwarding/row-changes.ts';
import type { ForwardingTable } from '../../forwarding/table.ts';
import { addressText } from '../../linux/conntrack/address-bytes.ts';
import { KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import { NetlinkError } from '../../linux/netlink/netlink-error.ts';
import { modeOfAgent } from '../../modes/mode-registry.ts';
import { ownNetworkNamespace } from '../run/describe-agent-node.ts';

/** What a change would do to open connections, or why they were not counted. */
export type OpenReport =
  | {
      readonly total: OpenCounts;
      /** Rows that have some. */
      readonly rows: Readonly<Record<ServicePortKey, OpenCounts>>;
      /** Connections that cannot be counted in this mode. */
      readonly unseen?: string;
    }
  | { readonly notCounted: string };

const READ_DEADLINE_MS = 60_000;
/** TCP states of conntrack in which a connection is being opened, or open for one side at least. */
const OPEN_TCP_STATES: ReadonlySet<number> = new Set([1, 2, 3, 4, 5]);

/** Only the agent's machine has the connections, and only its network namespace shows them. */
export async function reportOpen(
  changes: readonly Change[],
  observed: {
    readonly table: ForwardingTable;
    readonly agent: AgentNode | undefined;
    readonly runFolder: string;
  },
): Promise<OpenReport> {
  const { table, agent, runFolder } = observed;
  if (agent === undefined) return { notCounted: 'these are not the rows of a running agent' };
  if (agent.networkNamespace !== ownNetworkNamespace()) {
    return { notCounted: 'the agent serves another network namespace' };
  }
  return await countOpen(changes, { table, mode: agent.mode, runFolder });
}

/** Counts by conntrack of this network namespace and, where the mode has one, by its forwarder. */
async function countOpen(
  changes: readonly Change[],
  node: {
    readonly table: ForwardingTable;
    readonly mode: string;
    readonly runFolder: string;
  },
): Promise<OpenReport> {
  const { table, mode, runFolder } = node;
  const tally = new OpenTally(changes, (id, endpoint) => table.isServing(id, endpoint));
  const { copied, unseenConnections: unseen } = (await modeOfAgent(mode)) ?? {};
  const signal = AbortSignal.timeout(READ_DEADLINE_MS);
  const at = { frontends: frontendsBefore(changes), signal };
  try {
    const except = copied === undefined ? {} : { except: copied.addresses };
    for await (const flows of translatedFlows(new KernelConntrack(), { ...at, ...except })) {
      for (const { service, flow } of flows) {
        if (isOpen(flow)) tally.add(connectionOf(service as ServicePortKey, flow));
      }
    }
    const most = Number.MAX_SAFE_INTEGER;
    const found = await copied?.read({ runFolder, most, signal });
    for (const { row, frontend, endpoint } of found?.first ?? []) {
      tally.add({ row, at: wirePlace(frontend), endpoint: wirePlace(endpoint) });
    }
  } catch (error) {
    if (error instanceof PlaneError) return { notCounted: error.message };
    if (!(error instanceof NetlinkError) || error.code !== 'EPERM') throw error;
    return { notCounted: 'this process lacks CAP_NET_ADMIN' };
  }
  const counted = changes.map(({ key }) => [key, tally.of(key)] as const);
  const some = counted.filter(([, { stay, drain, lose }]) => stay + drain + lose > 0);
  const rows = Object.fromEntries(some) as Record<ServicePortKey, OpenCounts>;
  return { total: tally.total, rows, ...(unseen === undefined ? {} : { unseen }) };
}

/** Each with the row that has it now. */
function frontendsBefore(changes: readonly Change[]): OwnedFrontend[] {
  return changes.flatMap(({ key, before }) => {
    if (before === undefined) return [];
    const { protocol, family } = before.id;
    const served = before.frontends.filter(({ notServed }) => notServed === undefined);
    return served.map(({ kind, address, port }) => ({
      service: key,
      protocol,
      family,
      port,
      ...(kind === 'node-port' ? {} : { address }),
    }));
  });
}

/** Protocols without states are open as long as they have an entry. */
function isOpen({ tcpState }: Flow): boolean {
  return tcpState === undefined || OPEN_TCP_STATES.has(tcpState);
}

function connectionOf(row: ServicePortKey, { original, reply }: Flow): OpenConnection {
  return {
    row,
    at: { address: addressText(original.destination), port: original.destinationPort },
    endpoint: { address: addressText(reply.source), port: reply.sourcePort },
  };
}

/** Written as `address port`. */
function wirePlace(text: string): OpenConnection['at'] {
  const [address = '', port = '0'] = text.split(' ');
  return { address, port: Number(port) };
}
