const LENGTH_BYTES = 4;
const NO_BYTES = Buffer.alloc(0);

/** As for lines: the largest object that etcd takes is 1.5 MB by default. */
const DEFAULT_MAX_FRAME_BYTES = 64 * 1024 * 1024;

/**
 * Splits a stream into frames, each preceded by its length in four bytes. Copies only frames that
 * span chunks, once each.
 */
export class FrameSplitter {
  readonly #maxFrameBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Bytes left of a frame that is too long. */
  #bytesToSkip = 0;

  constructor(options: { readonly maxFrameBytes?: number } = {}) {
    this.#maxFrameBytes = options.maxFrameBytes ?? DEFAULT_MAX_FRAME_BYTES;
  }

  /** The frames that this chunk completes. Undefined stands for a frame that was too long. */
  push(chunk: Buffer): (Buffer | undefined)[] {
    const frames: (Buffer | undefined)[] = [];
    let rest = this.#bytesToSkip === 0 ? chunk : this.#afterSkipping(chunk);
    if (this.#pendingBytes > 0) {
      this.#keep(rest);
      if (this.#pendingBytes < this.#wantedBytes()) return frames;
      rest = Buffer.concat(this.#pending, this.#pendingBytes);
      this.#pending = [];
      this.#pendingBytes = 0;
    }
    while (rest.length >= LENGTH_BYTES) {
      const length = rest.readUInt32BE(0);
      if (length > this.#maxFrameBytes) {
        frames.push(undefined);
        this.#bytesToSkip = LENGTH_BYTES + length;
        rest = this.#afterSkipping(rest);
        continue;
      }
      const end = LENGTH_BYTES + length;
      if (rest.length < end) break;
      if (length > 0) frames.push(rest.subarray(LENGTH_BYTES, end));
      // Usually a chunk is exactly one frame.
      rest = rest.length === end ? NO_BYTES : rest.subarray(end);
    }
    if (rest.length > 0) this.#keep(rest);
    return frames;
  }

  #keep(part: Buffer): void {
    this.#pending.push(part);
    this.#pendingBytes += part.length;
  }

  /** Pending bytes below which chunks are not joined yet. */
  #wantedBytes(): number {
    const [first] = this.#pending;
    if (first === undefined || first.length < LENGTH_BYTES) return LENGTH_BYTES;
    return LENGTH_BYTES + Math.min(first.readUInt32BE(0), this.#maxFrameBytes);
  }

  #afterSkipping(chunk: Buffer): Buffer {
    const skipped = Math.min(this.#bytesToSkip, chunk.length);
    this.#bytesToSkip -= skipped;
    return chunk.subarray(skipped);
  }
}
