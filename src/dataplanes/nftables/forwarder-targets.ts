import { constants } from 'node:os';
import { type Family, SOURCE_CLASSES, type SourceClass } from '../../forwarding/model.ts';
import type { NftBatch } from '../../linux/nftables/batch.ts';
import { type NftConnection, NftRejection } from '../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import { FORWARDER_ADDRESSES } from '../shared/forwarder-addresses.ts';
import { endpointValue, protocolByte } from '../shared/nft/element-keys.ts';
import { KeptFrontends, type KeptRow } from './kept-frontends.ts';
import { asPlaneError } from './nft-rejection.ts';
import { FAMILY_OF_TABLE, TABLE_FAMILIES } from './nftables-chains.ts';
import { TABLES, TARGET_SETS } from './nftables-sets.ts';

/** Where the forwarder listens, by the source class whose connections come in there. */
type ListenerPorts = Readonly<Record<SourceClass, number>>;

/** Null: it does not listen in that family. */
export type ForwarderPorts = Readonly<Record<Family, ListenerPorts | null>>;

/** Longer than a refresh may be late, and shorter than a client waits for a forwarder that hangs. */
const TIMEOUT_MS = 4000;
const KEY = protocolByte('TCP');
const { ENOENT } = constants.errno;

/**
 * The ports of the forwarder in the tables, as elements with a timeout: when the agent stops
 * refreshing them, the rules behind translate. It has a netlink connection of its own, because it
 * writes beside inspections and changes of rows.
 */
export class ForwarderTargets {
  readonly #connection: NftConnection;
  readonly #kept = new KeptFrontends();
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: NftConnection) {
    this.#connection = connection;
  }

  /** Undefined: connections are not handed over any more. */
  async set(ports: ForwarderPorts | undefined): Promise<void> {
    await this.#next(() => this.#write(ports));
  }

  /** From now on these rows are not handed over, or are again. Written at once. */
  async keep(rows: readonly KeptRow[]): Promise<void> {
    for (const row of rows) this.#kept.set(row);
    await this.#next(() => this.#writeKept());
  }

  /** What was written may be gone. */
  mistrust(): void {
    this.#kept.mistrust();
  }

  async #next(write: () => Promise<void>): Promise<void> {
    const written = this.#last.then(write);
    // The caller learns of a failure; the next write must not.
    this.#last = written.catch(() => undefined);
    await written;
  }

  async #writeKept(): Promise<void> {
    if (this.#kept.isSettled) return;
    try {
      await this.#kept.write(this.#connection);
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  async #write(ports: ForwarderPorts | undefined): Promise<void> {
    // First: nothing is handed over that the forwarder does not have.
    if (ports !== undefined) await this.#writeKept();
    const batch = this.#connection.begin();
    for (const family of TABLE_FAMILIES) {
      // Before Linux 6.12 adding an element again does not prolong it.
      for (const set of TARGET_SETS) batch.flushSet(TABLES[family], set);
      const listeners = ports?.[FAMILY_OF_TABLE[family]];
      if (listeners) addTargets(batch, family, listeners);
      // There already, but for the first time: then it keeps its counter.
      batch.addElement(TABLES[family], 'not-handed-over', { key: KEY });
    }
    try {
      await this.#connection.commit(batch);
    } catch (error) {
      // Without the table nothing is handed over.
      if (ports === undefined && error instanceof NftRejection && error.errno === ENOENT) return;
      throw asPlaneError(error);
    }
  }
}

function addTargets(batch: NftBatch, family: TableFamily, listeners: ListenerPorts): void {
  const address = FORWARDER_ADDRESSES[FAMILY_OF_TABLE[family]];
  for (const from of SOURCE_CLASSES) {
    const value = endpointValue({ address, port: listeners[from] });
    const element = { key: KEY, value, timeoutMs: TIMEOUT_MS };
    batch.addElement(TABLES[family], `forwarder-${from}`, element);
  }
}

/** New TCP connections that the kernel translated because no forwarder was there. */
export async function readNotHandedOver(connection: NftConnection): Promise<number> {
  let count = 0;
  for (const family of TABLE_FAMILIES) {
    await connection.elements(TABLES[family], 'not-handed-over', ({ packets }) => {
      count += packets;
    });
  }
  return count;
}
