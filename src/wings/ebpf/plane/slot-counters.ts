import type { EndpointCount } from '../../../dataplanes/contract.ts';
import type { ServicePortKey } from '../../../forwarding/model.ts';
import { readAddress, SLOT } from './maps/layout.ts';
import type { Tables } from './maps/open-tables.ts';
import type { SlotRange } from './maps/slot-space.ts';

type Lists = ReadonlyMap<ServicePortKey, SlotRange>;

/**
 * Connections of each endpoint. The frontends of a service port lead to the same slots, and so
 * share the counters. Socket hooks do not see bytes. Of some service ports only their slots are read.
 */
export async function readCounters(
  tables: Tables,
  lists: Lists,
  wanted?: readonly ServicePortKey[],
): Promise<readonly EndpointCount[]> {
  const counts: EndpointCount[] = [];
  if (wanted) {
    for (const service of wanted) {
      const range = lists.get(service);
      if (!range || range.length === 0) continue;
      addCounts(counts, { service, slots: tables.readSlots(range), from: 0, to: range.length });
    }
    return counts;
  }
  const slots = tables.readSlots(tables.allSlots);
  for (const [service, { first, length }] of lists) {
    addCounts(counts, { service, slots, from: first, to: first + length });
  }
  return counts;
}

/** Without text or object for an endpoint, of which there may be a quarter of a million. */
export function readTotals(tables: Tables, lists: Lists): ReadonlyMap<ServicePortKey, number> {
  const slots = tables.readSlots(tables.allSlots);
  const totals = new Map<ServicePortKey, number>();
  for (const [service, { first, length }] of lists) {
    let sum = 0;
    for (let slot = first; slot < first + length; slot++) sum += connectionsAt(slots, slot);
    if (sum > 0) totals.set(service, sum);
  }
  return totals;
}

function addCounts(
  counts: EndpointCount[],
  row: { service: ServicePortKey; slots: Buffer; from: number; to: number },
): void {
  const { service, slots } = row;
  for (let slot = row.from; slot < row.to; slot++) {
    const at = slot * SLOT.bytes;
    const host = hostText(readAddress(slots, at + SLOT.address));
    counts.push({
      service,
      endpoint: `${host}:${slots.readUInt16BE(at + SLOT.port)}`,
      connections: connectionsAt(slots, slot),
      bytes: 0,
    });
  }
}

/** Beyond 2 ** 53 it is rounded. */
function connectionsAt(slots: Buffer, slot: number): number {
  const at = slot * SLOT.bytes + SLOT.connections;
  return slots.readUInt32LE(at) + slots.readUInt32LE(at + 4) * 2 ** 32;
}

function hostText(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}
