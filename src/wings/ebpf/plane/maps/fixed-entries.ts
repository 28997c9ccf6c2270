import { type Cidr, parseCidr } from '../../../../addresses/cidr.ts';
import type { Difference, NodeFacts } from '../../../../dataplanes/contract.ts';
import { FAMILIES, type Family } from '../../../../forwarding/model.ts';
import type { BpfMap } from '../../../../linux/ebpf/map.ts';
import type { MachineLink } from '../../../../linux/route/link-codec.ts';
import type { Binary } from './binary.ts';
import { podInterfaces } from './interfaces.ts';
import {
  ADDRESS_BYTES,
  AddressFlag,
  bytesOf,
  LAYOUT_VERSION,
  NETWORK,
  readAddress,
  SETTINGS,
  SettingFlag,
  writeAddress,
} from './layout.ts';
import { ONLY } from './map-set.ts';
import type { Tables } from './open-tables.ts';

/** Inputs of the node entries besides the facts. */
export interface NodeAbout {
  /** The key of the node itself. */
  readonly hostCookie: bigint;
  /** Where packets are met, the interfaces of the machine now; undefined: pods are met at sockets. */
  readonly links: () => readonly MachineLink[] | undefined;
}

/** What the programs need to know about the node. */
export interface NodeEntries {
  readonly settings: Buffer;
  readonly nodeAddresses: Entries;
  readonly interfaces: Entries;
}

/** Values by keys. */
type Entries = ReadonlyMap<Binary, Binary>;

/**
 * With `all`, node ports are left to the rules behind: the copy of the machine's addresses follows
 * the kernel by a moment, in which an address that has gone elsewhere would still be served.
 */
export function nodeEntries(facts: NodeFacts, { hostCookie, links: read }: NodeAbout): NodeEntries {
  const links = read();
  const flagged = [...podInterfaces(links ?? [], facts.podDetection)];
  return {
    settings: settingsOf(facts, { hostCookie, meetsPackets: links !== undefined }),
    nodeAddresses: new Map(
      [...addressFlags(facts)].map(([address, flags]) => [addressKey(address), binary(flags)]),
    ),
    interfaces: new Map(flagged.map(([index, flags]) => [binary(index), binary(flags)])),
  };
}

function addressFlags({ nodePortAddresses, ownAddresses = [] }: NodeFacts): Map<string, number> {
  const flags = new Map<string, number>();
  for (const address of ownAddresses) flags.set(address, AddressFlag.own);
  for (const family of FAMILIES) {
    const served = nodePortAddresses[family];
    if (served === 'all') continue;
    for (const address of served) {
      flags.set(address, (flags.get(address) ?? 0) | AddressFlag.nodePorts);
    }
  }
  return flags;
}

function settingsOf(
  facts: NodeFacts,
  { hostCookie, meetsPackets }: { readonly hostCookie: bigint; readonly meetsPackets: boolean },
): Buffer {
  const settings = Buffer.alloc(SETTINGS.bytes);
  settings.writeBigUInt64LE(hostCookie, SETTINGS.hostCookie);
  const flags =
    (facts.nodePortsOnLocalhost ? SettingFlag.loopbackNodePorts : 0) |
    // Other clients are identified by the interfaces that their packets come in by.
    (meetsPackets || facts.clientInterfaces ? SettingFlag.onlyHostSockets : 0);
  settings.writeUInt32LE(flags, SETTINGS.flags);
  settings.writeUInt32LE(LAYOUT_VERSION, SETTINGS.layoutVersion);
  FAMILIES.forEach((family, index) => {
    networkBytes(podRange(facts, family)).copy(settings, SETTINGS.pods + index * NETWORK.bytes);
  });
  return settings;
}

function podRange({ podDetection }: NodeFacts, family: Family): Cidr | undefined {
  const detection = podDetection[family];
  return detection?.by === 'cidr' ? parseCidr(detection.cidr) : undefined;
}

/** IPv4 lies in the last four bytes, behind ninety-six bits that are the same for all of it. */
function networkBytes(range: Cidr | undefined): Buffer {
  const network = Buffer.alloc(NETWORK.bytes);
  if (range === undefined) return network.fill(0xff, NETWORK.mask);
  const { base, prefixLength } = range;
  const from = ADDRESS_BYTES - base.bytes.length;
  if (from > 0) network.fill(0xff, NETWORK.address + from - 2, NETWORK.address + from);
  network.set(base.bytes, NETWORK.address + from);
  const ones = from * 8 + prefixLength;
  for (let bit = 0; bit < ones; bit++) {
    const at = NETWORK.mask + (bit >> 3);
    network[at] = (network[at] ?? 0) | (0x80 >> (bit & 7));
  }
  return network;
}

/**
 * Returns the differences; with `write`, repairs them. The desired entries are computed after the
 * read, because interfaces come and go meanwhile.
 */
export async function compareNodeEntries(
  tables: Tables,
  wanted: () => NodeEntries,
  { write }: { readonly write: boolean },
): Promise<Difference[]> {
  const { nodeAddresses, interfaces } = tables;
  const found = {
    nodeAddresses: await entriesOf(nodeAddresses),
    interfaces: await entriesOf(interfaces),
  };
  const wants = wanted();
  const differences: Difference[] = [];
  const settings = tables.settings.lookup(ONLY);
  if (!settings?.equals(wants.settings)) {
    const texts = { wanted: [hex(wants.settings)], found: [settings ? hex(settings) : 'nothing'] };
    differences.push({ kind: 'different', object: 'ebpf settings', ...texts });
    if (write) tables.settings.update(ONLY, wants.settings);
  }
  for (const name of ['nodeAddresses', 'interfaces'] as const) {
    for (const { key, value, before, kind } of changesBetween(found[name], wants[name])) {
      const texts = value && before ? { wanted: [hex(value)], found: [hex(before)] } : {};
      differences.push({ kind, object: `ebpf ${ENTRY_TEXT[name](key)}`, ...texts });
      if (!write) continue;
      if (value) tables[name].update(key, value);
      else tables[name].delete(key);
    }
  }
  return differences;
}

/** Adds the entries of new interfaces at once; removed ones need nothing. */
export function noteInterfaces(
  { interfaces }: Tables,
  { podDetection }: NodeFacts,
  links: { readonly before: readonly MachineLink[]; readonly now: readonly MachineLink[] },
): void {
  const before = podInterfaces(links.before, podDetection);
  const now = podInterfaces(links.now, podDetection);
  for (const [index, flags] of now) {
    if (before.get(index) !== flags) interfaces.update(numberBytes(index), numberBytes(flags));
  }
  for (const index of before.keys()) if (!now.has(index)) interfaces.delete(numberBytes(index));
}

const ENTRY_TEXT = {
  nodeAddresses: (key: Buffer) => `node_addresses { ${readAddress(key, 0)} }`,
  interfaces: (key: Buffer) => `interfaces { ${key.readUInt32LE(0)} }`,
} as const;

async function entriesOf(map: BpfMap): Promise<Entries> {
  const found = new Map<Binary, Binary>();
  for await (const entries of map.entries(new AbortController().signal)) {
    for (const { key, value } of entries)
      found.set(key.toString('latin1'), value.toString('latin1'));
  }
  return found;
}

interface EntryChange {
  readonly kind: Difference['kind'];
  readonly key: Buffer;
  /** Undefined: it is to go. */
  readonly value?: Buffer;
  /** For a different entry: what the map has. */
  readonly before?: Buffer;
}

function changesBetween(found: Entries, wanted: Entries): EntryChange[] {
  const changes: EntryChange[] = [];
  for (const [id, value] of wanted) {
    const held = found.get(id);
    if (held === value) continue;
    const change = { key: Buffer.from(id, 'latin1'), value: Buffer.from(value, 'latin1') };
    if (held === undefined) changes.push({ kind: 'missing', ...change });
    else changes.push({ kind: 'different', ...change, before: Buffer.from(held, 'latin1') });
  }
  for (const id of found.keys()) {
    if (!wanted.has(id)) changes.push({ kind: 'foreign', key: Buffer.from(id, 'latin1') });
  }
  return changes;
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}

function addressKey(text: string): Binary {
  const words = new Int32Array(ADDRESS_BYTES / 4);
  writeAddress(words, 0, text);
  return bytesOf(words).toString('latin1');
}

function binary(number: number): Binary {
  return numberBytes(number).toString('latin1');
}

function numberBytes(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}
