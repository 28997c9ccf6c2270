import type { EndpointList } from '../../../forwarding/model.ts';
import type { WireEndpoint } from '../protocol.ts';
import type { ListId, ThreadEndpoint } from './messages.ts';
import type { Row } from './row-store.ts';

/** A list of endpoints that some thread has asked for, with the slot of each. */
export class ServedList {
  readonly id: ListId;
  readonly row: Row;
  readonly kind: EndpointList;
  /** In no order: the last one takes the place of one that is removed, so that drawing costs nothing. */
  readonly #slots: number[] = [];
  readonly #positions = new Map<number, number>();

  constructor(id: ListId, row: Row, kind: EndpointList) {
    this.id = id;
    this.row = row;
    this.kind = kind;
  }

  get size(): number {
    return this.#slots.length;
  }

  has(slot: number): boolean {
    return this.#positions.has(slot);
  }

  at(position: number): number | undefined {
    return this.#slots[position];
  }

  add(slot: number): void {
    if (this.#positions.has(slot)) return;
    this.#positions.set(slot, this.#slots.length);
    this.#slots.push(slot);
  }

  remove(slot: number): void {
    const position = this.#positions.get(slot);
    const last = this.#slots.at(-1);
    if (position === undefined || last === undefined) return;
    this.#slots[position] = last;
    this.#positions.set(last, position);
    this.#slots.pop();
    this.#positions.delete(slot);
  }
}

/** `address port` as a thread needs it. */
export function threadEndpoint(slot: number, endpoint: WireEndpoint): ThreadEndpoint {
  const space = endpoint.indexOf(' ');
  return { slot, address: endpoint.slice(0, space), port: Number(endpoint.slice(space + 1)) };
}
