import { type FixedMemory, fixedMemoryOf } from '../../../../../linux/sockets/fixed-memory.ts';
import { keyOfSocketAddress } from '../address-key.ts';
import type { AddressKey } from '../row-memory.ts';
import { ADDRESS_BYTES, type SharedMemory } from '../slots.ts';

/** Addresses of endpoints by slot. They stay as they are while a connection counts in the slot. */
export class Endpoints {
  readonly #owners: Int32Array;
  readonly #addresses: FixedMemory;

  constructor({ owners, addresses }: Pick<SharedMemory, 'owners' | 'addresses'>) {
    this.#owners = new Int32Array(owners);
    this.#addresses = fixedMemoryOf(addresses);
  }

  /** The number of its row; 0: it left its row. */
  owner(slot: number): number {
    return Atomics.load(this.#owners, slot);
  }

  key(slot: number, isIPv6: boolean): AddressKey {
    const at = slot * ADDRESS_BYTES;
    return keyOfSocketAddress(this.#addresses.bytes.subarray(at, at + ADDRESS_BYTES), isIPv6);
  }

  /** Where its socket address is in memory. */
  address(slot: number): number {
    return this.#addresses.address + slot * ADDRESS_BYTES;
  }
}
