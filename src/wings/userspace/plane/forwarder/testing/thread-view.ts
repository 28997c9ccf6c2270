import { SOURCE_CLASSES, type SourceClass } from '../../../../../forwarding/model.ts';
import type { SocketAddress } from '../../../../../linux/sockets/socket-address.ts';
import { addressKey, keyOfSocketAddress, keyText } from '../address-key.ts';
import { IPV6, RowReader } from '../row-memory.ts';
import type { SlotTable } from '../slot-table.ts';
import { ADDRESS_BYTES, type SharedMemory } from '../slots.ts';

export interface Question extends SocketAddress {
  readonly source: SourceClass;
}

/** What a copying thread finds in the shared memory. */
export class ThreadView {
  readonly #reader: RowReader;
  readonly #addresses: Buffer;
  readonly #slots: SlotTable;

  constructor(memory: SharedMemory, slots: SlotTable) {
    this.#reader = new RowReader(memory.rows);
    this.#addresses = Buffer.from(memory.addresses);
    this.#slots = slots;
  }

  /** Undefined: nothing is forwarded for this source class. Endpoints are sorted. */
  find({ address, port, source }: Question) {
    const reader = this.#reader;
    const version = reader.begin();
    const key = addressKey({ address, port });
    if (!reader.find(key, SOURCE_CLASSES.indexOf(source))) return undefined;
    if (!reader.isCurrent(version)) throw new Error('nobody writes meanwhile');
    const { row, list, masquerade, isSticky, size } = reader;
    const slots = Array.from({ length: size }, (_, index) => reader.slotAt(index));
    const endpoints = slots.map((slot) => this.#textOf(slot)).sort();
    return { row, list, masquerade, isSticky, slots, endpoints };
  }

  slotOf(question: Question, endpoint: string): number | undefined {
    return this.find(question)?.slots.find((slot) => this.#textOf(slot) === endpoint);
  }

  #textOf(slot: number): string {
    const { endpoint } = this.#slots.identity(slot);
    const isIPv6 = endpoint.includes(':');
    const at = slot * ADDRESS_BYTES;
    const key = keyOfSocketAddress(this.#addresses.subarray(at, at + ADDRESS_BYTES), isIPv6);
    if (((key.meta & IPV6) !== 0) !== isIPv6) throw new Error('the family differs');
    return keyText(key);
  }
}
