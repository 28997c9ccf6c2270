import type { Tuple } from '../drops/drop.ts';
import type { TraceEvent } from './decode-trace.ts';
import type { PacketHeader } from './packet-header.ts';
import { LAST_CHAINS, PROBE_TABLE_NAME } from './probe-table.ts';

const LAST: readonly string[] = Object.values(LAST_CHAINS);

/** A traced packet after all rules; undefined: it did not come so far. */
export function leftAs(events: readonly TraceEvent[]): Tuple | undefined {
  const last = events.find(
    ({ table, chain, packet }) =>
      packet !== undefined && table === PROBE_TABLE_NAME && LAST.includes(chain),
  );
  return last?.packet && tupleOf(last.packet);
}

export function tupleOf(packet: PacketHeader): Tuple {
  const { protocol, source, destination, sourcePort = 0, destinationPort = 0 } = packet;
  return { protocol, source, sourcePort, destination, destinationPort };
}
