import type { Answers } from './forwarder-protocol.ts';

/** A frame: four bytes with the length (big endian), then JSON. */
const LENGTH_BYTES = 4;

/** An apply with every row of 50,000 Services is sent in several messages, each far below this. */
const MOST_FRAME_BYTES = 64 * 1024 * 1024;

/** What the forwarder sends back for each request, in the order of the requests. */
export type Reply = { readonly ok: Answers[keyof Answers] } | { readonly error: string };

/** One frame of JSON in parts: its length comes with the first one. */
export function frame(...parts: readonly string[]): Buffer[] {
  const buffers = parts.map((part) => Buffer.from(part));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(buffers.reduce((sum, { byteLength }) => sum + byteLength, 0));
  return [length, ...buffers];
}

/** Assembles messages from the chunks of a stream. */
export class FrameReader {
  readonly #mostBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Before so many bytes are there, nothing is complete. */
  #wanted = LENGTH_BYTES;

  constructor(mostBytes = MOST_FRAME_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** The messages that this chunk completes. Throws for a frame that is too long or no JSON. */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const messages: unknown[] = [];
    while (this.#size >= this.#wanted) {
      // Chunks are joined once for each frame, not for each chunk.
      if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
      const bytes = this.#chunks[0] as Buffer;
      const length = bytes.readUInt32BE(0);
      if (length > this.#mostBytes) {
        throw new RangeError(`a message of ${length} bytes exceeds ${this.#mostBytes}`);
      }
      this.#wanted = LENGTH_BYTES + length;
      if (bytes.length < this.#wanted) break;
      messages.push(JSON.parse(bytes.toString('utf8', LENGTH_BYTES, this.#wanted)));
      this.#chunks = [bytes.subarray(this.#wanted)];
      this.#size -= this.#wanted;
      this.#wanted = LENGTH_BYTES;
    }
    return messages;
  }
}
