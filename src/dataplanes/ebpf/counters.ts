import type { ServicePortKey } from '../../forwarding/model.ts';
import type { EndpointCount } from '../contract.ts';
import { readAddress, SLOT } from './maps/layout.ts';
import type { SlotRange } from './maps/slot-space.ts';
import type { Tables } from './maps/tables.ts';

/**
 * Connections of each endpoint. The frontends of a service port lead to the same slots, and so
 * share the counters. Socket hooks do not see bytes.
 */
export async function readCounters(
  tables: Tables,
  lists: ReadonlyMap<ServicePortKey, SlotRange>,
): Promise<readonly EndpointCount[]> {
  const slots = tables.readSlots(tables.allSlots);
  const counts: EndpointCount[] = [];
  for (const [service, { first, length }] of lists) {
    for (let slot = first; slot < first + length; slot++) {
      const at = slot * SLOT.bytes;
      const host = hostText(readAddress(slots, at + SLOT.address));
      counts.push({
        service,
        endpoint: `${host}:${slots.readUInt16BE(at + SLOT.port)}`,
        connections: Number(slots.readBigUInt64LE(at + SLOT.connections)),
        bytes: 0,
      });
    }
  }
  return counts;
}

function hostText(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}
