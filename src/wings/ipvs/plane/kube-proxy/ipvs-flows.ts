import { addressText } from '../../../../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../../../../linux/conntrack/conntrack.ts';
import { STATUS_DST_NAT } from '../../../../linux/conntrack/conntrack-protocol.ts';
import type { Flow } from '../../../../linux/conntrack/flow.ts';
import { type VirtualServerKey, virtualServerId } from '../../../../linux/ipvs/ipvs-model.ts';
import { PROTOCOL_NUMBERS } from '../../../../linux/ipvs/ipvs-protocol.ts';

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;

/**
 * The conntrack entries of connections that IPVS forwards for these virtual servers: their answers
 * come from another address than the one they were sent to, and no rule has translated them.
 */
export async function flowsThrough(
  servers: readonly VirtualServerKey[],
  conntrack: Pick<Conntrack, 'flows'>,
  signal: AbortSignal,
): Promise<readonly Flow[]> {
  const ids = new Set(servers.map(virtualServerId));
  const question = {
    protocols: new Set(servers.map(({ protocol }) => PROTOCOL_NUMBERS[protocol])),
    destinationPorts: new Set(servers.map(({ port }) => port)),
  };
  const found: Flow[] = [];
  if (servers.length === 0) return found;
  for await (const flows of conntrack.flows(question, signal)) {
    for (const flow of flows) if (isThrough(flow, ids)) found.push(flow);
  }
  return found;
}

function isThrough({ protocol, status, original, reply }: Flow, ids: ReadonlySet<string>): boolean {
  if ((status & STATUS_DST_NAT) !== 0 || reply.source === original.destination) return false;
  const name = PROTOCOLS.find((each) => PROTOCOL_NUMBERS[each] === protocol);
  if (name === undefined) return false;
  const address = addressText(original.destination);
  return ids.has(virtualServerId({ protocol: name, address, port: original.destinationPort }));
}
