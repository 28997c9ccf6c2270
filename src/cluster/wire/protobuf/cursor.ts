import type { TextCache } from './text-cache.ts';

/** The bytes are not a message. Caught by the message reader. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** Wire types: the lower three bits of a tag. */
export const WIRE = { varint: 0, eightBytes: 1, counted: 2, fourBytes: 5 } as const;

const MOST_VARINT_BYTES = 10;

/** A read position in a buffer, with an end that is never crossed. */
export class Cursor {
  readonly bytes: Buffer;
  position: number;
  end: number;

  readonly #texts: TextCache;

  constructor(bytes: Buffer, texts: TextCache, position = 0) {
    this.bytes = bytes;
    this.#texts = texts;
    this.position = position;
    this.end = bytes.length;
  }

  get isAtEnd(): boolean {
    return this.position >= this.end;
  }

  /**
   * Exact up to 2^53. Larger values, including negative numbers, stay larger than every bound in
   * use.
   */
  varint(): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < MOST_VARINT_BYTES; count++) {
      if (this.position >= this.end) break;
      const byte = this.bytes[this.position++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
    throw new MalformedMessage('a varint has no end');
  }

  /** End of the length-delimited value that starts here. */
  countedEnd(): number {
    const length = this.varint();
    const end = this.position + length;
    if (end > this.end) throw new MalformedMessage('a field is longer than its message');
    return end;
  }

  text(): string {
    const end = this.countedEnd();
    const value = this.#texts.read(this.bytes, this.position, end);
    this.position = end;
    return value;
  }

  counted(): Buffer {
    const end = this.countedEnd();
    const value = this.bytes.subarray(this.position, end);
    this.position = end;
    return value;
  }

  skip(wireType: number): void {
    if (wireType === WIRE.varint) this.varint();
    else if (wireType === WIRE.counted) this.position = this.countedEnd();
    else if (wireType === WIRE.eightBytes) this.#advance(8);
    else if (wireType === WIRE.fourBytes) this.#advance(4);
    else throw new MalformedMessage('unknown wire type');
  }

  #advance(count: number): void {
    this.position += count;
    if (this.position > this.end) throw new MalformedMessage('a field is longer than its message');
  }
}
