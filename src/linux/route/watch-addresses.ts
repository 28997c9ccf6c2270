import type { LinkAddress } from './address-codec.ts';
import type { RouteTables } from './link-tables.ts';
import {
  addressesQuestion,
  linksQuestion,
  RTNLGRP_IPV4_IFADDR,
  RTNLGRP_IPV6_IFADDR,
  RTNLGRP_LINK,
} from './route-protocol.ts';
import { type WatchOptions, watchTables } from './watch-tables.ts';

export interface MachineAddress extends LinkAddress {
  /** Name of the link; empty until the kernel has reported the link. */
  readonly interface: string;
}

const ADDRESS_GROUPS = [RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR];

/** Reports all addresses of all links, sorted, and the full list again after each change. */
export async function watchAddresses(
  onChange: (addresses: readonly MachineAddress[]) => void,
  signal: AbortSignal,
  options?: WatchOptions,
): Promise<void> {
  const groups = [RTNLGRP_LINK, ...ADDRESS_GROUPS];
  const questions = [linksQuestion, addressesQuestion];
  await watchTables({ groups, questions, rows: addressRows, onChange }, signal, options);
}

/**
 * The bare addresses, each once: those of links that come and go, and what only concerns their
 * links, are no change here.
 */
export function machineAddresses(options?: WatchOptions): {
  run(onChange: (addresses: readonly string[]) => void, signal: AbortSignal): Promise<void>;
} {
  const questions = [addressesQuestion];
  return {
    run: (onChange, signal) =>
      watchTables({ groups: ADDRESS_GROUPS, questions, rows: bareRows, onChange }, signal, options),
  };
}

/** In the order of links, then as the addresses are written. */
function addressRows({ links, addresses }: RouteTables): MachineAddress[] {
  const rows = [...addresses.values()].map((address) => {
    const row = { ...address, interface: links.get(address.linkIndex)?.name ?? '' };
    const index = String(row.linkIndex).padStart(10, '0');
    const order = [index, row.family, row.address, String(row.prefixLength).padStart(3, '0')];
    return { row, order: order.join(' ') };
  });
  return rows.sort((a, b) => compare(a.order, b.order)).map(({ row }) => row);
}

/** A duplicate belongs to another host. A tentative one becomes usable in a second. */
function bareRows({ addresses }: RouteTables): string[] {
  const own = [...addresses.values()].filter(({ duplicate }) => !duplicate);
  return [...new Set(own.map(({ address }) => address))].sort();
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
