import { SOURCE_CLASSES, type SourceClass } from '../../../../../forwarding/model.ts';
import type { SocketAddress } from '../../../../../linux/sockets/socket-address.ts';
import { addressKey, keyText } from '../address-key.ts';
import { IPV6 } from '../row-memory.ts';
import { RowReader } from '../row-reader.ts';
import type { SlotTable } from '../slot-table.ts';
import type { SharedMemory } from '../slots.ts';
import { Endpoints } from '../thread/endpoints.ts';

export interface Question extends SocketAddress {
  readonly source: SourceClass;
}

/** What a copying thread finds in the shared memory. */
export class ThreadView {
  readonly #reader: RowReader;
  readonly #endpoints: Endpoints;
  readonly #slots: SlotTable;

  constructor(memory: SharedMemory, slots: SlotTable) {
    this.#reader = new RowReader(memory.rows);
    this.#endpoints = new Endpoints(memory);
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
    const key = this.#endpoints.key(slot, isIPv6);
    if (((key.meta & IPV6) !== 0) !== isIPv6) throw new Error('the family differs');
    return keyText(key);
  }
}
