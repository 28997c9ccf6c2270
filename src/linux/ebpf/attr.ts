import koffi from 'koffi';

/** The kernel accepts a longer one than it knows if the rest is zero. */
const ATTR_BYTES = 144;

/**
 * The argument of one bpf(2) call. It contains addresses of buffers as plain numbers, so this
 * object keeps references to the buffers, which the garbage collector would otherwise free.
 */
export class Attr {
  readonly bytes: Buffer = Buffer.alloc(ATTR_BYTES);
  readonly #held = new Map<number, Uint8Array>();

  u32(offset: number, value: number): this {
    this.bytes.writeUInt32LE(value >>> 0, offset);
    return this;
  }

  pointer(offset: number, to: Uint8Array): this {
    this.#held.set(offset, to);
    this.bytes.writeBigUInt64LE(to.length === 0 ? 0n : koffi.address(to), offset);
    return this;
  }

  text(offset: number, value: string): this {
    return this.pointer(offset, Buffer.from(`${value}\0`, 'utf8'));
  }

  /** A name in place, cut to what the kernel has room for. */
  name(offset: number, value: string): this {
    const name = value.replace(/[^A-Za-z0-9_.]/g, '_').slice(0, 15);
    this.bytes.fill(0, offset, offset + 16).write(name, offset, 'latin1');
    return this;
  }

  readU32(offset: number): number {
    return this.bytes.readUInt32LE(offset);
  }

  /** Called after the kernel is done, which keeps every buffer alive until then. */
  heldBuffers(): number {
    return this.#held.size;
  }
}
