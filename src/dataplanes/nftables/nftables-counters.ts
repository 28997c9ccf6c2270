import type { Protocol } from '../../forwarding/model.ts';
import type { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import type { EndpointCount, Holding, KernelFrontend } from '../contract.ts';
import { addressText, hostNumberOf, split } from '../shared/nft/element-text.ts';
import { rowOfGroup } from './groups.ts';
import { FAMILY_OF_TABLE, TABLE_FAMILIES } from './nftables-chains.ts';
import { setSpec, TABLES } from './nftables-sets.ts';

const LIST_BYTES = 4;
const FRONTEND_SETS = ['frontends', 'node-ports'] as const;
/** Connections of clients with an affinity entry are counted in the second set, all others in the first. */
const COUNTED_SETS = ['slots', 'sticky-endpoints'] as const;

/** Reads what the kernel has counted. It takes seconds where there are very many endpoints. */
export async function readCounters(connection: NftConnection): Promise<readonly EndpointCount[]> {
  const counts = new Map<string, EndpointCount>();
  for (const family of TABLE_FAMILIES) {
    const owners = await ownersOf(connection, family);
    for (const set of COUNTED_SETS) {
      await connection.elements(TABLES[family], set, ({ key, value = '', packets, bytes }) => {
        const row = rowOfGroup(hostNumberOf(key.slice(0, LIST_BYTES)));
        const endpoint = endpointText(family, value);
        const service = owners.get(row) ?? '';
        const id = `${service} ${endpoint}`;
        const known = counts.get(id);
        counts.set(id, {
          service,
          endpoint,
          connections: packets + (known?.connections ?? 0),
          bytes: bytes + (known?.bytes ?? 0),
        });
      });
    }
  }
  return [...counts.values()];
}

/** Service ports by the numbers of their rows. */
export async function ownersOf(
  connection: NftConnection,
  family: TableFamily,
): Promise<ReadonlyMap<number, string>> {
  const owners = new Map<number, string>();
  for (const set of FRONTEND_SETS) {
    await connection.elements(TABLES[family], set, ({ key, value = '', comment = '' }) => {
      const protocol = protocolOf(family, set, key);
      const row = rowOfGroup(hostNumberOf(value));
      owners.set(row, `${comment}/${protocol}/${FAMILY_OF_TABLE[family]}`);
    });
  }
  return owners;
}

/** Every address that is translated. */
export async function readFrontends(connection: NftConnection): Promise<readonly KernelFrontend[]> {
  const frontends: KernelFrontend[] = [];
  for (const family of TABLE_FAMILIES) {
    for (const set of FRONTEND_SETS) {
      await connection.elements(TABLES[family], set, ({ key }) => {
        const parts = split(setSpec(family, set).key, key);
        const protocol = protocolOf(family, set, key);
        if (protocol === undefined) return;
        const address = set === 'frontends' ? { address: addressText(parts[0] ?? '') } : {};
        frontends.push({ protocol, ...address, port: portOf(parts.at(-1) ?? '') });
      });
    }
  }
  return frontends;
}

/** How much of everything our tables hold; a table without chains and sets is none of ours. */
export async function readInventory(connection: NftConnection): Promise<readonly Holding[]> {
  const counts = { tables: 0, chains: 0, rules: 0, sets: 0 };
  for (const family of TABLE_FAMILIES) {
    const [chains, rules, sets] = [
      await connection.chains(TABLES[family]),
      await connection.rules(TABLES[family]),
      await connection.sets(TABLES[family]),
    ];
    if (chains.length + sets.length > 0) counts.tables += 1;
    counts.chains += chains.length;
    counts.rules += rules.length;
    counts.sets += sets.length;
  }
  const addresses = (await readFrontends(connection)).length;
  const holdings = Object.entries({ ...counts, addresses }) as [Holding['what'], number][];
  return holdings.map(([what, count]) => ({ what, count })).filter(({ count }) => count > 0);
}

const PROTOCOLS: Readonly<Record<number, Protocol>> = { 6: 'TCP', 17: 'UDP', 132: 'SCTP' };

export function protocolOf(
  family: TableFamily,
  set: (typeof FRONTEND_SETS)[number],
  key: Binary,
): Protocol | undefined {
  const [protocol = ''] = split(setSpec(family, set).key, key).slice(-2);
  return PROTOCOLS[protocol.charCodeAt(0)];
}

export function endpointText(family: TableFamily, value: Binary): string {
  const addressBytes = family === 'ip' ? 4 : 16;
  return `${hostText(family, value.slice(0, addressBytes))}:${portOf(value.slice(addressBytes))}`;
}

function hostText(family: TableFamily, bytes: Binary): string {
  return family === 'ip' ? addressText(bytes) : `[${addressText(bytes)}]`;
}

function portOf(bytes: Binary): number {
  return bytes.charCodeAt(0) * 256 + bytes.charCodeAt(1);
}
