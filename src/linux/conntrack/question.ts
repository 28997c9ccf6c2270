import type { NetlinkWriter } from '../netlink/netlink-writer.ts';
import type { AddressBytes } from './address-bytes.ts';
import * as ct from './conntrack-protocol.ts';
import type { Flow } from './flow.ts';

/** Which flows are of interest, by what their first packet was. Others may come along. */
export interface FlowQuestion {
  readonly protocols: ReadonlySet<number>;
  readonly destinationPorts: ReadonlySet<number>;
  /** For TCP only unanswered attempts: a few of 200,000 connections. */
  readonly unansweredTcpOnly?: boolean;
  /** Only unanswered attempts are of use, although others may be listed. */
  readonly isForAttempts?: true;
  /** The fields that all of them have in common, for the kernel's filter. */
  readonly filter?: FlowFilter;
}

export interface FlowFilter {
  readonly version: 4 | 6;
  readonly protocol: number;
  readonly destination?: AddressBytes;
  readonly destinationPort: number;
}

/** Asks for the flows that pass the filter, or for all there are. */
export function writeQuestion(
  writer: NetlinkWriter,
  filter: FlowFilter | undefined,
  sequence: number,
): void {
  const flags = ct.NLM_F_REQUEST | ct.NLM_F_DUMP;
  const message = writer.beginMessage({ type: ct.MESSAGE_GET, flags, sequence });
  writeFamily(writer, filter?.version);
  if (filter) writeFilter(writer, filter);
  writer.endMessage(message);
}

/** The fixed part of every message of this subsystem: family, version 0, no resource. */
export function writeFamily(writer: NetlinkWriter, version: 4 | 6 | undefined): void {
  writer.raw(Uint8Array.of(version === undefined ? 0 : FAMILY_OF[version], 0, 0, 0));
}

const FAMILY_OF = { 4: ct.AF_INET, 6: ct.AF_INET6 } as const;

function writeFilter(writer: NetlinkWriter, filter: FlowFilter): void {
  const { protocol, destinationPort } = filter;
  const destination = comparableDestination(filter);
  const tuple = writer.beginNested(ct.CTA_TUPLE_ORIG);
  if (destination !== undefined) {
    const addresses = writer.beginNested(ct.CTA_TUPLE_IP);
    writer.binary(ct.CTA_IP_V4_DST, destination);
    writer.endNested(addresses);
  }
  const ports = writer.beginNested(ct.CTA_TUPLE_PROTO);
  writer.u8(ct.CTA_PROTO_NUM, protocol);
  writer.u16be(ct.CTA_PROTO_DST_PORT, destinationPort);
  writer.endNested(ports);
  writer.endNested(tuple);
  const compared =
    ct.FILTER_PROTO_NUM |
    ct.FILTER_PROTO_DST_PORT |
    (destination === undefined ? 0 : ct.FILTER_IP_DST);
  const flags = writer.beginNested(ct.CTA_FILTER);
  writer.u32le(ct.CTA_FILTER_ORIG_FLAGS, compared);
  writer.endNested(flags);
}

/** Whether the filter matches the flow, for kernels that ignore it. */
export function passesFilter(filter: FlowFilter, flow: Flow): boolean {
  const destination = comparableDestination(filter);
  return (
    flow.version === filter.version &&
    flow.protocol === filter.protocol &&
    flow.original.destinationPort === filter.destinationPort &&
    (destination === undefined || flow.original.destination === destination)
  );
}

/**
 * The kernel's filter takes IPv6 addresses the wrong way round, as seen in 6.18: it leaves out
 * the flows that have the address and gives those that do not.
 */
function comparableDestination({ version, destination }: FlowFilter): AddressBytes | undefined {
  return version === 4 ? destination : undefined;
}
