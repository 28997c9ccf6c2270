import { FAMILIES } from '../../forwarding/model.ts';
import type { Difference, NodeFacts } from '../contract.ts';
import type { Binary } from './knowledge.ts';
import {
  ADDRESS_BYTES,
  bytesOf,
  LAYOUT_VERSION,
  readAddress,
  SETTINGS,
  SettingFlag,
  writeAddress,
} from './layout.ts';
import { ONLY } from './map-set.ts';
import type { Tables } from './tables.ts';

const SERVED = Buffer.from([1, 0, 0, 0]);

/** What the programs must know of the node. */
export interface NodeEntries {
  readonly settings: Buffer;
  readonly nodeAddresses: ReadonlySet<Binary>;
}

/**
 * With `all`, which addresses these are only the kernel knows at the moment it routes: then node
 * ports are left to the rules behind.
 */
export function nodeEntries(facts: NodeFacts, hostCookie: bigint): NodeEntries {
  const settings = Buffer.alloc(SETTINGS.bytes);
  settings.writeBigUInt64LE(hostCookie, SETTINGS.hostCookie);
  const flags = facts.nodePortsOnLocalhost ? SettingFlag.loopbackNodePorts : 0;
  settings.writeUInt32LE(flags, SETTINGS.flags);
  settings.writeUInt32LE(LAYOUT_VERSION, SETTINGS.layoutVersion);
  const listed = FAMILIES.map((family) => facts.nodePortAddresses[family]);
  const addresses = listed.flatMap((served) => (served === 'all' ? [] : served));
  return { settings, nodeAddresses: new Set(addresses.map(addressKey)) };
}

/** Gives what was amiss; with `write`, it is no more. */
export async function compareNodeEntries(
  tables: Tables,
  wanted: NodeEntries,
  { write }: { readonly write: boolean },
): Promise<Difference[]> {
  const differences: Difference[] = [];
  if (!tables.settings.lookup(ONLY)?.equals(wanted.settings)) {
    differences.push({ kind: 'different', object: 'ebpf settings' });
    if (write) tables.settings.update(ONLY, wanted.settings);
  }
  const found = new Set<Binary>();
  for await (const entries of tables.nodeAddresses.entries(new AbortController().signal)) {
    for (const { key } of entries) found.add(key.toString('latin1'));
  }
  for (const key of wanted.nodeAddresses.difference(found)) {
    differences.push({ kind: 'missing', object: nodeAddressText(key) });
    if (write) tables.nodeAddresses.update(Buffer.from(key, 'latin1'), SERVED);
  }
  for (const key of found.difference(wanted.nodeAddresses)) {
    differences.push({ kind: 'foreign', object: nodeAddressText(key) });
    if (write) tables.nodeAddresses.delete(Buffer.from(key, 'latin1'));
  }
  return differences;
}

function addressKey(text: string): Binary {
  const words = new Int32Array(ADDRESS_BYTES / 4);
  writeAddress(words, 0, text);
  return bytesOf(words).toString('latin1');
}

function nodeAddressText(key: Binary): string {
  return `ebpf node_addresses { ${readAddress(Buffer.from(key, 'latin1'), 0)} }`;
}
