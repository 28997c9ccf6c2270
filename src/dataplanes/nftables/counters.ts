import type { Protocol } from '../../forwarding/model.ts';
import type { NftConnection } from '../../linux/nftables/connection.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import type { EndpointCount, KernelFrontend } from '../contract.ts';
import { FAMILY_OF_TABLE, TABLE_FAMILIES } from './chains.ts';
import { addressText, split } from './element-text.ts';
import { setSpec, TABLES } from './sets.ts';

const SLOT_BYTES = 4;

/** The maps that lead to endpoints, and those whose comments say whose they are. */
const COUNTED = [
  ['endpoints', 'services'],
  ['nodeport-endpoints', 'nodeports'],
] as const;

/** Reads what the kernel has counted. It takes seconds where there are very many endpoints. */
export async function readCounters(connection: NftConnection): Promise<readonly EndpointCount[]> {
  const counts: EndpointCount[] = [];
  for (const family of TABLE_FAMILIES) {
    for (const [endpoints, frontends] of COUNTED) {
      const owners = new Map<Binary, string>();
      await connection.elements(TABLES[family], frontends, ({ key, comment }) =>
        owners.set(key, comment ?? ''),
      );
      await connection.elements(TABLES[family], endpoints, (element) => {
        const key = element.key.slice(0, -SLOT_BYTES);
        const { frontend, protocol } = frontendOf(family, frontends, key);
        counts.push({
          service: `${owners.get(key) ?? ''}/${protocol}/${FAMILY_OF_TABLE[family]}`,
          frontend,
          endpoint: endpointText(family, element.value ?? ''),
          connections: element.packets,
          bytes: element.bytes,
        });
      });
    }
  }
  return counts;
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
  set: 'services' | 'nodeports',
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
