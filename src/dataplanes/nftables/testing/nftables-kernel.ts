import assert from 'node:assert/strict';
import type { Forwarding } from '../../../forwarding/model.ts';
import { servicePortKey } from '../../../forwarding/model.ts';
import { type Netlink, openNetlink } from '../../../linux/netlink/netlink-socket.ts';
import { run } from '../../../linux/netlink/testing/own-namespace.ts';
import {
  NETLINK_NETFILTER,
  NFNLGRP_NFTABLES,
  type TableFamily,
} from '../../../linux/nftables/nftables-protocol.ts';
import type { Desired, Inspection } from '../../contract.ts';
import { change } from '../../shared/testing/plane-change.ts';
import type { Class } from '../classes.ts';
import { TABLE_FAMILIES } from '../nftables-chains.ts';
import { NftablesPlane } from '../nftables-plane.ts';
import { renderTable } from '../render-nftables.ts';
import { tableContent } from '../table-content.ts';
import { listingDifferences } from './canonical.ts';

/** Events of a table that is deleted name every rule of it. */
const EVENT_BUFFER_BYTES = 8 * 1024 * 1024;

/** A plane in the network namespace of the test. */
export function newPlane(
  options: {
    readonly receiveBufferBytes?: number;
    readonly wrap?: (netlink: Netlink) => Netlink;
    readonly forwarder?: true;
  } = {},
): NftablesPlane {
  const { receiveBufferBytes = EVENT_BUFFER_BYTES, wrap = (netlink) => netlink } = options;
  return new NftablesPlane({
    ...(options.forwarder ? { forwarder: true } : {}),
    openNetlink: (kind) =>
      wrap(
        openNetlink({
          protocol: NETLINK_NETFILTER,
          ...(kind === 'events' ? { groups: [NFNLGRP_NFTABLES], receiveBufferBytes } : {}),
        }),
      ),
  });
}

export function nft(script: string): string {
  return run(['nft', '-f', '-'], script);
}

export function listTable(family: TableFamily): string {
  return run(['nft', 'list', 'table', family, 'fairlead']);
}

/** Fails where a listing does: an `nft` that cannot print the rules is of no use to its owner. */
export function listEverything(): string {
  run(['nft', '-j', 'list', 'ruleset']);
  return run(['nft', 'list', 'ruleset']);
}

/** Writes every row that an inspection did not find right. */
export async function applyWrong(
  plane: NftablesPlane,
  rows: readonly Forwarding[],
  { right }: Inspection,
): Promise<void> {
  const wrong = rows.filter(({ id }) => !right.has(servicePortKey(id)));
  await plane.apply(wrong.map((row) => change('unknown', row)));
}

/** From any state to the desired one. */
export async function bring(
  plane: NftablesPlane,
  desired: Desired & { readonly rows: readonly Forwarding[] },
): Promise<Inspection> {
  const inspection = await plane.inspect(desired, 'everything');
  await applyWrong(plane, desired.rows, inspection);
  return inspection;
}

function assertSameListing(actual: string, wanted: string): void {
  assert.deepEqual(listingDifferences(actual, wanted), []);
}

/** `nft` lists what `render` prints, and an inspection finds no differences. */
export async function assertIs(
  plane: NftablesPlane,
  desired: Desired & { readonly rows: readonly Forwarding[] },
  keptClasses: Readonly<Partial<Record<TableFamily, readonly Class[]>>> = {},
): Promise<void> {
  assert.deepEqual(await plane.diff(desired), []);
  for (const family of TABLE_FAMILIES) {
    const wanted = renderTable(tableContent(desired, family, keptClasses[family]));
    assertSameListing(listTable(family), wanted);
  }
}
