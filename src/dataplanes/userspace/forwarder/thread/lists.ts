import { type FixedMemory, fixedMemory } from '../../../../linux/sockets/fixed-memory.ts';
import {
  encodeSocketAddress,
  IPV4_OFFSET,
  IPV6_OFFSET,
  MOST_SOCKET_ADDRESS_BYTES,
  SOCKET_ADDRESS_BYTES,
} from '../../../../linux/sockets/socket-address.ts';
import type { ListId, ThreadEndpoint } from '../messages.ts';

export interface ListedEndpoint {
  readonly slot: number;
  readonly address: string;
  readonly port: number;
  /** The socket address, to connect to. */
  readonly memory: FixedMemory;
  readonly length: number;
  /** The bytes of its IP address as latin1. */
  readonly addressBytes: string;
  /** Where it is in its list. */
  index: number;
}

/** The endpoints that one or more frontends may use. */
export class List {
  readonly id: ListId;
  readonly endpoints: ListedEndpoint[] = [];
  readonly #bySlot = new Map<number, ListedEndpoint>();

  constructor(id: ListId) {
    this.id = id;
  }

  withSlot(slot: number): ListedEndpoint | undefined {
    return this.#bySlot.get(slot);
  }

  add({ slot, address, port }: ThreadEndpoint): void {
    if (this.#bySlot.has(slot)) return;
    const memory = fixedMemory(MOST_SOCKET_ADDRESS_BYTES);
    const length = encodeSocketAddress(memory.bytes, { address, port });
    const index = this.endpoints.length;
    const addressBytes = addressBytesOf(memory.bytes, length);
    const endpoint = { slot, address, port, memory, length, addressBytes, index };
    this.endpoints.push(endpoint);
    this.#bySlot.set(slot, endpoint);
  }

  /** The last one takes its place, so that it costs the same in a long list. */
  remove(slot: number): void {
    const removed = this.#bySlot.get(slot);
    const last = this.endpoints.at(-1);
    if (removed === undefined || last === undefined) return;
    this.#bySlot.delete(slot);
    this.endpoints[removed.index] = last;
    last.index = removed.index;
    this.endpoints.pop();
  }

  clear(): void {
    this.endpoints.length = 0;
    this.#bySlot.clear();
  }
}

export class Lists {
  readonly #lists = new Map<ListId, List>();

  get(id: ListId): List {
    let list = this.#lists.get(id);
    if (list === undefined) {
      list = new List(id);
      this.#lists.set(id, list);
    }
    return list;
  }

  /** Connections that still have it find no endpoint there: others may have their slots soon. */
  delete(id: ListId): void {
    this.#lists.get(id)?.clear();
    this.#lists.delete(id);
  }
}

function addressBytesOf(socketAddress: Buffer, length: number): string {
  return length === SOCKET_ADDRESS_BYTES.IPv4
    ? socketAddress.toString('latin1', IPV4_OFFSET, IPV4_OFFSET + 4)
    : socketAddress.toString('latin1', IPV6_OFFSET, IPV6_OFFSET + 16);
}
