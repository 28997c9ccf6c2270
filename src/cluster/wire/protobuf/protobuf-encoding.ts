import { arrayAt, recordAt, textAt } from '../../json.ts';
import type { Kind } from '../../object-kinds.ts';
import { readStatus, readWatchEvent, type WatchEvent } from '../../watch-event.ts';
import type { Encoding, EventReader, RawList } from '../encoding.ts';
import { type Message, MessageReader } from './message-reader.ts';
import type { Shape } from './message-shape.ts';
import {
  ENVELOPE_SHAPE,
  LIST_SHAPES,
  OBJECT_SHAPES,
  STATUS_SHAPE,
  WATCH_EVENT_SHAPE,
} from './shapes.ts';

export const PROTOBUF_ENCODING: Encoding = {
  mediaType: 'application/vnd.kubernetes.protobuf',
  readList,
  events: readFrames,
  readStatus: (body) => readStatus(unwrap(new MessageReader(), body, STATUS_SHAPE)),
};

/** Magic bytes of the encoding. */
const MAGIC = Buffer.from('k8s\0', 'latin1').readUInt32BE();
const MAGIC_BYTES = 4;

/** The object in its envelope, which says whether it is a Status instead. */
function unwrap(reader: MessageReader, bytes: unknown, shape: Shape): Message | undefined {
  if (!Buffer.isBuffer(bytes) || bytes.length < MAGIC_BYTES) return undefined;
  if (bytes.readUInt32BE() !== MAGIC) return undefined;
  const envelope = reader.read(bytes, ENVELOPE_SHAPE, MAGIC_BYTES);
  if (envelope === undefined || !Buffer.isBuffer(envelope['raw'])) return undefined;
  const isStatus = textAt(recordAt(envelope, 'typeMeta'), 'kind') === 'Status';
  return reader.read(envelope['raw'], isStatus ? STATUS_SHAPE : shape);
}

function readList(body: Buffer, kind: Kind): RawList | undefined {
  const list = unwrap(new MessageReader(), body, LIST_SHAPES[kind]);
  if (list === undefined) return undefined;
  const metadata = recordAt(list, 'metadata');
  return {
    resourceVersion: textAt(metadata, 'resourceVersion'),
    next: textAt(metadata, 'continue'),
    items: arrayAt(list, 'items'),
  };
}

function readFrames(kind: Kind): EventReader {
  const frames = new FrameSplitter();
  const reader = new MessageReader();
  const readFrame = (frame: Buffer): WatchEvent | undefined => {
    const event = reader.read(frame, WATCH_EVENT_SHAPE);
    if (event === undefined) return undefined;
    const object = unwrap(reader, recordAt(event, 'object')['raw'], OBJECT_SHAPES[kind]);
    return object === undefined ? undefined : readWatchEvent({ type: event['type'], object });
  };
  return {
    push: (chunk) => frames.push(chunk).map((frame) => frame && readFrame(frame)),
  };
}

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
