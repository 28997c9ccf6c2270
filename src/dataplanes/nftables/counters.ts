import type { Protocol } from '../../forwarding/model.ts';
import type { NftConnection } from '../../linux/nftables/connection.ts';
import type { StoredElement } from '../../linux/nftables/decode-elements.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import type { EndpointCount, KernelFrontend } from '../contract.ts';
import { FAMILY_OF_TABLE, TABLE_FAMILIES } from './chains.ts';
import { addressText, split } from './element-text.ts';
import { setSpec, TABLES } from './sets.ts';

const SLOT_BYTES = 4;
const GROUP_BYTES = 4;

type FrontendSet = 'services' | 'nodeports';

/** The maps that lead to endpoints, and those whose comments say whose they are. */
const COUNTED = [
  ['endpoints', 'services'],
  ['nodeport-endpoints', 'nodeports'],
] as const;

/** With session affinity a frontend leads to a group, and the group to endpoints. */
const GROUPS = [
  ['affinity-groups', 'services'],
  ['affinity-nodeport-groups', 'nodeports'],
  ['short-affinity-groups', 'services'],
  ['short-affinity-nodeport-groups', 'nodeports'],
] as const;

/** Reads what the kernel has counted. It takes seconds where there are very many endpoints. */
export async function readCounters(connection: NftConnection): Promise<readonly EndpointCount[]> {
  const counts: EndpointCount[] = [];
  for (const family of TABLE_FAMILIES) {
    const owners = {
      services: await ownersOf(connection, family, 'services'),
      nodeports: await ownersOf(connection, family, 'nodeports'),
    };
    const count = (at: Place, element: StoredElement): void => {
      const { frontend, protocol } = frontendOf(family, at.set, at.key);
      counts.push({
        service: `${owners[at.set].get(at.key) ?? ''}/${protocol}/${FAMILY_OF_TABLE[family]}`,
        frontend,
        endpoint: endpointText(family, element.value ?? ''),
        connections: element.packets,
        bytes: element.bytes,
      });
    };
    for (const [endpoints, set] of COUNTED) {
      await connection.elements(TABLES[family], endpoints, (element) =>
        count({ set, key: element.key.slice(0, -SLOT_BYTES) }, element),
      );
    }
    const groups = await groupsOf(connection, family);
    await connection.elements(TABLES[family], 'affinity-endpoints', (element) => {
      const at = groups.get(element.key.slice(0, GROUP_BYTES));
      if (at) count(at, element);
    });
  }
  return counts;
}

interface Place {
  readonly set: FrontendSet;
  readonly key: Binary;
}

async function ownersOf(
  connection: NftConnection,
  family: TableFamily,
  set: FrontendSet,
): Promise<ReadonlyMap<Binary, string>> {
  const owners = new Map<Binary, string>();
  await connection.elements(TABLES[family], set, ({ key, comment }) =>
    owners.set(key, comment ?? ''),
  );
  return owners;
}

/** The first frontend of each group; the others share its endpoints, and so their counters. */
async function groupsOf(
  connection: NftConnection,
  family: TableFamily,
): Promise<ReadonlyMap<Binary, Place>> {
  const groups = new Map<Binary, Place>();
  for (const [map, set] of GROUPS) {
    await connection.elements(TABLES[family], map, ({ key, value = '' }) => {
      if (!groups.has(value)) groups.set(value, { set, key });
    });
  }
  return groups;
}

/** Every address that is translated. */
export async function readFrontends(connection: NftConnection): Promise<readonly KernelFrontend[]> {
  const frontends: KernelFrontend[] = [];
  for (const family of TABLE_FAMILIES) {
    for (const set of ['services', 'nodeports'] as const) {
      await connection.elements(TABLES[family], set, ({ key }) => {
        const parts = split(setSpec(family, set).key, key);
        const [protocolBytes = '', port = ''] = parts.slice(-2);
        const protocol = PROTOCOLS[protocolBytes.charCodeAt(0)];
        if (protocol === undefined) return;
        const address = set === 'services' ? { address: addressText(parts[0] ?? '') } : {};
        frontends.push({ protocol, ...address, port: portOf(port) });
      });
    }
  }
  return frontends;
}

const PROTOCOLS: Readonly<Record<number, Protocol>> = { 6: 'TCP', 17: 'UDP', 132: 'SCTP' };

function frontendOf(
  family: TableFamily,
  set: FrontendSet,
  key: Binary,
): { frontend: string; protocol: string } {
  const parts = split(setSpec(family, set).key, key);
  const [protocol = '', port = ''] = parts.slice(-2);
  const address = parts.length === 3 ? hostText(family, parts[0] ?? '') : '';
  return {
    frontend: `${address}:${portOf(port)}`,
    protocol: PROTOCOLS[protocol.charCodeAt(0)] ?? '',
  };
}

function endpointText(family: TableFamily, value: Binary): string {
  const addressBytes = family === 'ip' ? 4 : 16;
  return `${hostText(family, value.slice(0, addressBytes))}:${portOf(value.slice(addressBytes))}`;
}

function hostText(family: TableFamily, bytes: Binary): string {
  return family === 'ip' ? addressText(bytes) : `[${addressText(bytes)}]`;
}

function portOf(bytes: Binary): number {
  return bytes.charCodeAt(0) * 256 + bytes.charCodeAt(1);
}
