import type { Answer } from './protocol.ts';

/** A frame: four bytes with the length (big endian), then JSON. */
const LENGTH_BYTES = 4;

/** An apply with every row of 50,000 Services is sent in several messages, each far below this. */
const MOST_FRAME_BYTES = 64 * 1024 * 1024;

/** What the forwarder sends back for each request, in the order of the requests. */
export type Reply = { readonly ok: Answer } | { readonly error: string };

export function frame(message: unknown): Buffer {
  const text = JSON.stringify(message);
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + Buffer.byteLength(text));
  bytes.writeUInt32BE(bytes.length - LENGTH_BYTES, 0);
  bytes.write(text, LENGTH_BYTES);
  return bytes;
}

/** Assembles messages from the chunks of a stream. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;
  readonly #mostBytes: number;

  constructor(mostBytes = MOST_FRAME_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** The messages that this chunk completes. Throws for a frame that is too long or no JSON. */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const messages: unknown[] = [];
    for (let next = this.#nextLength(); next !== undefined; next = this.#nextLength()) {
      const bytes = this.#take(LENGTH_BYTES + next);
      messages.push(JSON.parse(bytes.toString('utf8', LENGTH_BYTES)));
    }
    return messages;
  }

  /** Undefined: the next frame is not complete. */
  #nextLength(): number | undefined {
    if (this.#size < LENGTH_BYTES) return undefined;
    const length = this.#head(LENGTH_BYTES).readUInt32BE(0);
    if (length > this.#mostBytes) {
      throw new RangeError(`a message of ${length} bytes exceeds ${this.#mostBytes}`);
    }
    return this.#size < LENGTH_BYTES + length ? undefined : length;
  }

  #take(length: number): Buffer {
    const head = this.#head(length);
    const rest = (this.#chunks[0] as Buffer).subarray(length);
    if (rest.length > 0) this.#chunks[0] = rest;
    else this.#chunks.shift();
    this.#size -= length;
    return head.subarray(0, length);
  }

  /** At least so many bytes in one buffer. Chunks are joined once for each frame, not for each chunk. */
  #head(length: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= length) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}
