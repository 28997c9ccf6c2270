import type { NetlinkMessage } from '../netlink/reader.ts';
import { type AddressChange, type LinkAddress, readAddressChange } from './address-codec.ts';
import { type LinkChange, type MachineLink, readLinkChange } from './link-codec.ts';

/** Links and addresses of the machine. */
export interface RouteTables {
  readonly links: Map<number, MachineLink>;
  readonly addresses: Map<string, LinkAddress>;
}

export type RouteChange = AddressChange | LinkChange;

export function emptyTables(): RouteTables {
  return { links: new Map(), addresses: new Map() };
}

export function readRouteChange(message: NetlinkMessage): RouteChange | undefined {
  return readAddressChange(message) ?? readLinkChange(message);
}

/** An event has a state, not a difference: applying one twice does no harm. */
export function applyChange(tables: RouteTables, change: RouteChange): void {
  if (change.of === 'address') {
    if (change.address === undefined) tables.addresses.delete(change.key);
    else tables.addresses.set(change.key, change.address);
  } else if (change.link === undefined) {
    tables.links.delete(change.index);
  } else {
    tables.links.set(change.index, change.link);
  }
}
