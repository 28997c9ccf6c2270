import type { ServicePortKey } from '../../forwarding/model.ts';
import type { EndpointCount } from '../contract.ts';
import { readFrontends } from './inspect.ts';
import { wordsOf } from './maps/comparison.ts';
import { frontendOfKey } from './maps/entry-text.ts';
import { readAddress, SLOT } from './maps/layout.ts';
import type { SlotRange } from './maps/slot-space.ts';
import type { Tables } from './maps/tables.ts';

/**
 * Connections of each endpoint. The frontends of a service port lead to the same slots and so share
 * what is counted: it is told for the first of them. Bytes are not seen at sockets.
 */
export async function readCounters(
  tables: Tables,
  lists: ReadonlyMap<ServicePortKey, SlotRange>,
): Promise<readonly EndpointCount[]> {
  const frontendOf = await firstFrontends(tables);
  const slots = tables.readSlots(tables.allSlots);
  const counts: EndpointCount[] = [];
  for (const [service, { first, length }] of lists) {
    const frontend = firstIn(frontendOf, { first, length });
    if (frontend === undefined) continue;
    for (let slot = first; slot < first + length; slot++) {
      const at = slot * SLOT.bytes;
      const host = hostText(readAddress(slots, at + SLOT.address));
      counts.push({
        service,
        frontend,
        endpoint: `${host}:${slots.readUInt16BE(at + SLOT.port)}`,
        connections: Number(slots.readBigUInt64LE(at + SLOT.connections)),
        bytes: 0,
      });
    }
  }
  return counts;
}

async function firstFrontends(tables: Tables): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  const entries = [...(await readFrontends(tables))].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [key, value] of entries) {
    const { address, port } = frontendOfKey(Buffer.from(key, 'latin1'));
    const text = `${address === undefined ? '' : hostText(address)}:${port}`;
    for (const { first, count } of wordsOf(value)) {
      // A node port's address is zero and so comes first; one that has an address is told instead.
      if (count > 0 && (!found.has(first) || found.get(first)?.startsWith(':'))) {
        found.set(first, text);
      }
    }
  }
  return found;
}

/** A list may begin a little behind the endpoints that only the other list has. */
function firstIn(
  frontendOf: ReadonlyMap<number, string>,
  { first, length }: SlotRange,
): string | undefined {
  for (let slot = first; slot < first + length; slot++) {
    const found = frontendOf.get(slot);
    if (found !== undefined) return found;
  }
  return undefined;
}

function hostText(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}
