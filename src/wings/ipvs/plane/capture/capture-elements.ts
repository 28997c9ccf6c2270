import {
  addressBytes,
  frontendFields,
  frontendKey,
  hostNumber,
} from '../../../../dataplanes/shared/nft/element-keys.ts';
import {
  addressText,
  hostNumberOf,
  split,
} from '../../../../dataplanes/shared/nft/element-text.ts';
import type { Protocol } from '../../../../forwarding/model.ts';
import { type VirtualServerKey, virtualServerId } from '../../../../linux/ipvs/ipvs-model.ts';
import type { NftBatch } from '../../../../linux/nftables/batch.ts';
import type { StoredElement } from '../../../../linux/nftables/decode-elements.ts';
import type { NftConnection } from '../../../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../../../linux/nftables/userdata.ts';
import type { CaptureChange, CaptureElements } from './capture-model.ts';
import {
  FAMILY_OF_TABLE,
  hairpinFields,
  type SetName,
  TABLE_FAMILIES,
  TABLES,
} from './capture-sets.ts';
import { captureNumber, captureOfNumber } from './capture-value.ts';
import type { CapturedFrontend } from './frontend.ts';

const MOST_ATTEMPTS = 5;
const PROTOCOLS: Readonly<Record<number, Protocol>> = { 6: 'TCP', 17: 'UDP', 132: 'SCTP' };

/**
 * Writes set by set, because elements that follow each other share a message. A virtual server is
 * known as ours before it is captured, and longer.
 */
export function writeElements(batch: NftBatch, change: CaptureChange): void {
  const { take = [], retake = [], pass = [] } = change;
  each(change.serversAdd ?? [], (server) => {
    batch.addElement(tableOf(server.address), 'servers', { key: serverKey(server) });
  });
  each([...pass, ...retake], (frontend) => {
    batch.deleteElement(tableOf(frontend.address), 'captured', { key: serverKey(frontend) });
  });
  each([...retake, ...take], (frontend) => {
    batch.addElement(tableOf(frontend.address), 'captured', capturedElement(frontend));
  });
  each(change.serversDelete ?? [], (server) => {
    batch.deleteElement(tableOf(server.address), 'servers', { key: serverKey(server) });
  });
  each(change.rejectedDelete ?? [], (server) => {
    batch.deleteElement(tableOf(server.address), 'refused', { key: serverKey(server) });
  });
  each(change.rejectedAdd ?? [], (server) => {
    batch.addElement(tableOf(server.address), 'refused', { key: serverKey(server) });
  });
  for (const address of change.hairpinDelete ?? []) {
    batch.deleteElement(tableOf(address), 'hairpin', { key: hairpinKey(address) });
  }
  for (const address of change.hairpinAdd ?? []) {
    batch.addElement(tableOf(address), 'hairpin', { key: hairpinKey(address) });
  }
}

export async function readElements(connection: NftConnection): Promise<CaptureElements> {
  const captured = new Map<string, CapturedFrontend>();
  const servers = new Map<string, VirtualServerKey>();
  const rejected = new Map<string, VirtualServerKey>();
  const hairpin = new Set<string>();
  for (const family of TABLE_FAMILIES) {
    const read = await setReader(connection, family);
    await read('captured', ({ key, value = '' }) => {
      const server = serverOf(family, key);
      if (!server) return;
      const capture = captureOfNumber(hostNumberOf(value));
      captured.set(virtualServerId(server), {
        ...server,
        family: FAMILY_OF_TABLE[family],
        capture,
      });
    });
    await read('servers', ({ key }) => {
      const server = serverOf(family, key);
      if (server) servers.set(virtualServerId(server), server);
    });
    await read('refused', ({ key }) => {
      const server = serverOf(family, key);
      if (server) rejected.set(virtualServerId(server), server);
    });
    await read('hairpin', ({ key }) => {
      hairpin.add(hairpinText(split(hairpinFields(family), key)));
    });
  }
  return { captured, servers, rejected, hairpin };
}

export function capturedElement(frontend: CapturedFrontend): { key: Binary; value: Binary } {
  return { key: serverKey(frontend), value: hostNumber(captureNumber(frontend.capture)) };
}

export function serverKey({ address, protocol, port }: VirtualServerKey): Binary {
  return frontendKey(address, protocol, port);
}

/** Another process may have added one of two addresses: `a . b`, which can be deleted as such. */
export function hairpinKey(text: string): Binary {
  const [from = '', to = from] = text.split(' . ');
  return addressBytes(from) + addressBytes(to);
}

function hairpinText([from = '', to = '']: readonly Binary[]): string {
  return from === to ? addressText(from) : `${addressText(from)} . ${addressText(to)}`;
}

type SetReader = (set: SetName, onElement: (element: StoredElement) => void) => Promise<void>;

/**
 * Reads a set again while it changes. The kernel also leaves elements out while it grows the hash
 * table after many writes, and only tells how many there are (since 6.16).
 */
async function setReader(connection: NftConnection, family: TableFamily): Promise<SetReader> {
  const sets = await connection.sets(TABLES[family]);
  const counts = new Map(sets.map(({ name, count = 0 }) => [name, count]));
  return async (set, onElement) => {
    for (let attempt = 1; ; attempt++) {
      const found: StoredElement[] = [];
      const { consistent } = await connection.elements(TABLES[family], set, (e) => found.push(e));
      const isWhole = consistent && found.length >= (counts.get(set) ?? 0);
      if (!isWhole && attempt < MOST_ATTEMPTS) continue;
      for (const element of found) onElement(element);
      return;
    }
  };
}

function serverOf(family: TableFamily, key: Binary): VirtualServerKey | undefined {
  const [address = '', protocolByte = '', port = ''] = split(frontendFields(family), key);
  const protocol = PROTOCOLS[protocolByte.charCodeAt(0)];
  if (protocol === undefined) return undefined;
  const number = port.charCodeAt(0) * 256 + port.charCodeAt(1);
  return { protocol, address: addressText(address), port: number };
}

export function familyOfAddress(address: string): TableFamily {
  return address.includes(':') ? 'ip6' : 'ip';
}

function tableOf(address: string) {
  return TABLES[familyOfAddress(address)];
}

/** IPv4 first: a message is about one table. */
function each<T extends { readonly address: string }>(
  items: readonly T[],
  visit: (item: T) => void,
): void {
  for (const family of TABLE_FAMILIES) {
    for (const item of items) if (familyOfAddress(item.address) === family) visit(item);
  }
}
