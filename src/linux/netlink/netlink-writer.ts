const HEADER_BYTES = 16;
const NESTED = 0x8000;
const INITIAL_BYTES = 4096;
const FEW_BYTES = 64;
const MOST_U16 = 0xffff;

/** Begins of messages, where their lengths are written when they end. */
type Offset = number;

/**
 * Writes netlink messages and their attributes into one buffer. Header numbers are in the byte
 * order of the machine, which is little-endian on every platform that Node and our supported
 * kernels share; attribute methods name their byte order.
 */
export class NetlinkWriter {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes written so far. Valid until the next write. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  beginMessage(header: {
    readonly type: number;
    readonly flags: number;
    readonly sequence: number;
  }): Offset {
    this.#reserve(HEADER_BYTES);
    const at = this.#length;
    this.#buffer.writeUInt16LE(header.type, at + 4);
    this.#buffer.writeUInt16LE(header.flags, at + 6);
    this.#buffer.writeUInt32LE(header.sequence, at + 8);
    this.#buffer.writeUInt32LE(0, at + 12);
    this.#length += HEADER_BYTES;
    return at;
  }

  endMessage(begun: Offset): void {
    this.#buffer.writeUInt32LE(this.#length - begun, begun);
  }

  /** Adds to the flags of a message that was written before. */
  addFlags(begun: Offset, flags: number): void {
    this.#buffer.writeUInt16LE(this.#buffer.readUInt16LE(begun + 6) | flags, begun + 6);
  }

  /** Bytes that are no attribute: the fixed part after a header. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length + 3);
    this.#buffer.set(bytes, this.#length);
    this.#pad(bytes.length);
  }

  beginNested(type: number): Offset {
    this.#reserve(4);
    const at = this.#length;
    this.#u16(at + 2, type | NESTED);
    this.#length += 4;
    return at;
  }

  endNested(begun: Offset): void {
    this.#u16(begun, this.#length - begun);
  }

  u8(type: number, value: number): void {
    this.#head(type, 1);
    this.#buffer[this.#length] = value;
    this.#pad(1);
  }

  u16be(type: number, value: number): void {
    this.#head(type, 2);
    this.#buffer.writeUInt16BE(value, this.#length);
    this.#pad(2);
  }

  u32be(type: number, value: number): void {
    this.#head(type, 4);
    this.#buffer.writeUInt32BE(value >>> 0, this.#length);
    this.#length += 4;
  }

  u32le(type: number, value: number): void {
    this.#head(type, 4);
    this.#buffer.writeUInt32LE(value >>> 0, this.#length);
    this.#length += 4;
  }

  u64be(type: number, value: bigint): void {
    this.#head(type, 8);
    this.#buffer.writeBigUInt64BE(value, this.#length);
    this.#length += 8;
  }

  /** A name as the kernel reads it, with a zero at its end. */
  text(type: number, text: string): void {
    const size = Buffer.byteLength(text) + 1;
    this.#head(type, size);
    this.#buffer.write(text, this.#length);
    this.#buffer[this.#length + size - 1] = 0;
    this.#pad(size);
  }

  bytesOf(type: number, bytes: Uint8Array): void {
    this.#head(type, bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#pad(bytes.length);
  }

  /** Bytes kept as a string of one character each, which is what keys of large maps are. */
  binary(type: number, bytes: string): void {
    const { length } = bytes;
    this.#head(type, length);
    // A call out of JavaScript costs more than copying a few bytes here.
    if (length > FEW_BYTES) this.#buffer.write(bytes, this.#length, 'latin1');
    else {
      for (let i = 0; i < length; i++) this.#buffer[this.#length + i] = bytes.charCodeAt(i);
    }
    this.#pad(length);
  }

  #head(type: number, size: number): void {
    this.#reserve(4 + size + 3);
    this.#u16(this.#length, 4 + size);
    this.#u16(this.#length + 2, type);
    this.#length += 4;
  }

  /** Buffer's own method checks bounds that are certain here, a million times at a start. */
  #u16(at: number, value: number): void {
    // It rejects a length that would wrap around.
    if (value > MOST_U16) this.#buffer.writeUInt16LE(value, at);
    this.#buffer[at] = value & 0xff;
    this.#buffer[at + 1] = (value >>> 8) & 0xff;
  }

  /** Advances over the written bytes, to the next multiple of four. */
  #pad(size: number): void {
    const end = this.#length + size;
    const aligned = (end + 3) & ~3;
    for (let at = end; at < aligned; at++) this.#buffer[at] = 0;
    this.#length = aligned;
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + size));
    larger.set(this.bytes);
    this.#buffer = larger;
  }
}
