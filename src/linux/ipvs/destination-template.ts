import { fillAddress } from './address.ts';
import type { Destination, VirtualServerKey } from './model.ts';

/**
 * Where things are in a message about a destination that was written whole: every attribute has a
 * fixed size, and they come in the order in which the encoder writes them.
 */
const SEQUENCE_AT = 8;
const KEY_AT = 24;
const ADDRESS_AT = 76;
const ADDRESS_END = 92;
const PORT_AT = 96;
const FAMILY_AT = 104;
const WEIGHT_AT = 120;

/**
 * A message about a destination, changed in place for the next one. A cluster has tens of thousands,
 * and to write each attribute anew costs more than the kernel takes for it.
 */
export class DestinationTemplate {
  readonly bytes: Buffer;
  readonly #address: Uint8Array;
  /** Whose key the message has. */
  #keyOf: VirtualServerKey | undefined;

  constructor(message: Buffer) {
    this.bytes = Buffer.from(message);
    this.#address = this.bytes.subarray(ADDRESS_AT, ADDRESS_END);
  }

  change(parts: {
    readonly sequence: number;
    readonly server: VirtualServerKey;
    /** Of that server, encoded. */
    readonly key: Buffer;
    readonly destination: Destination;
  }): void {
    const { bytes } = this;
    const { server, destination } = parts;
    if (this.#keyOf !== server) {
      bytes.set(parts.key, KEY_AT);
      this.#keyOf = server;
    }
    bytes.writeUInt32LE(parts.sequence, SEQUENCE_AT);
    bytes.writeUInt16LE(fillAddress(this.#address, destination.address), FAMILY_AT);
    bytes.writeUInt16BE(destination.port, PORT_AT);
    bytes.writeUInt32LE(destination.weight, WEIGHT_AT);
  }
}
