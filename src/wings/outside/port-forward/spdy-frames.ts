import { ClusterError } from '../../../cluster/cluster-error.ts';

/**
 * The frames of SPDY/3.1 that port-forward uses. The server has no flow control: it ignores
 * WINDOW_UPDATE, and reads the next frame only when the one before has been taken by its stream.
 */
const SYN_STREAM = 1;
const SYN_REPLY = 2;
const RST_STREAM = 3;
const PING = 6;
const GOAWAY = 7;
const CONTROL_VERSION_3 = 0x8003;
const FLAG_FIN = 1;
const CANCEL = 5;
const HEAD_BYTES = 8;
const ID_MASK = 0x7fff_ffff;
const LENGTH_MASK = 0xff_ffff;
const MOST_CONTROL_BYTES = 64 * 1024;

/**
 * Begins the compressed stream of header blocks: zlib with the dictionary of SPDY/3, by its
 * Adler-32. The blocks are stored, so nothing refers to the dictionary.
 */
const ZLIB_BEGIN = Buffer.from([0x78, 0x20, 0xe3, 0xc6, 0xa7, 0xc2]);
/** An empty stored block, without which the server's inflate keeps the headers to itself. */
const ZLIB_FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

export interface NewStream {
  readonly id: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Nothing will be sent on it. */
  readonly isFinished: boolean;
  /** Of this connection: header blocks of one connection are one compressed stream. */
  readonly isFirst: boolean;
}

export function synStream(stream: NewStream): Buffer {
  const parts = [uint32(Object.keys(stream.headers).length)];
  for (const [name, value] of Object.entries(stream.headers)) {
    parts.push(uint32(name.length), Buffer.from(name), uint32(value.length), Buffer.from(value));
  }
  const plain = Buffer.concat(parts);
  const stored = Buffer.alloc(5);
  stored.writeUInt16LE(plain.length, 1);
  stored.writeUInt16LE(~plain.length & 0xffff, 3);
  const begin = stream.isFirst ? [ZLIB_BEGIN] : [];
  // After the id: the associated stream, priority and slot, all 0.
  const body = [uint32(stream.id), Buffer.alloc(6), ...begin, stored, plain, ZLIB_FLUSH];
  return control(SYN_STREAM, stream.isFinished ? FLAG_FIN : 0, Buffer.concat(body));
}

export function dataHead(id: number, length: number, isLast: boolean): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32BE(id, 0);
  head.writeUInt32BE((((isLast ? FLAG_FIN : 0) << 24) | length) >>> 0, 4);
  return head;
}

export function reset(id: number): Buffer {
  return control(RST_STREAM, 0, Buffer.concat([uint32(id), uint32(CANCEL)]));
}

export function pingAnswer(body: Buffer): Buffer {
  return control(PING, 0, body);
}

function control(type: number, flags: number, body: Buffer): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt16BE(CONTROL_VERSION_3, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4);
  return Buffer.concat([head, body]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export interface SpdyListener {
  onReply(id: number): void;
  /** A part of a data frame, as long as it arrived. */
  onData(id: number, bytes: Buffer): void;
  /** The server sends no more on this stream. */
  onEnd(id: number): void;
  onReset(id: number): void;
  onPing(body: Buffer): void;
  onGoAway(): void;
}

/** Reads the server's frames, in chunks of any size; data is passed on as it arrives. */
export class SpdyReader {
  readonly #listener: SpdyListener;
  #kept: Buffer = Buffer.alloc(0);
  #data: { readonly id: number; readonly isLast: boolean; leftBytes: number } | undefined;

  constructor(listener: SpdyListener) {
    this.#listener = listener;
  }

  /** Throws ClusterError for a frame that no server sends. */
  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#data ? this.#passData(rest) : this.#readFrame(rest);
  }

  #passData(bytes: Buffer): Buffer {
    const data = this.#data;
    if (data === undefined) return bytes;
    const part = bytes.subarray(0, data.leftBytes);
    data.leftBytes -= part.length;
    if (data.leftBytes === 0) this.#data = undefined;
    this.#listener.onData(data.id, part);
    if (data.leftBytes === 0 && data.isLast) this.#listener.onEnd(data.id);
    return bytes.subarray(part.length);
  }

  #readFrame(chunk: Buffer): Buffer {
    const bytes = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    this.#kept = Buffer.alloc(0);
    if (bytes.length < HEAD_BYTES) return this.#keep(bytes);
    const first = bytes.readUInt32BE(0);
    const length = bytes.readUInt32BE(4) & LENGTH_MASK;
    const isLast = ((bytes[4] ?? 0) & FLAG_FIN) !== 0;
    const body = bytes.subarray(HEAD_BYTES);
    if (first <= ID_MASK) {
      if (length > 0) this.#data = { id: first, isLast, leftBytes: length };
      else if (isLast) this.#listener.onEnd(first);
      return body;
    }
    if (length > MOST_CONTROL_BYTES) throw tooLong(length);
    if (body.length < length) return this.#keep(bytes);
    this.#control({ type: first & 0xffff, isLast, body: body.subarray(0, length) });
    return body.subarray(length);
  }

  #keep(bytes: Buffer): Buffer {
    this.#kept = Buffer.from(bytes);
    return bytes.subarray(bytes.length);
  }

  #control({ type, isLast, body }: { type: number; isLast: boolean; body: Buffer }): void {
    const id = body.length < 4 ? 0 : body.readUInt32BE(0) & ID_MASK;
    if (type === SYN_REPLY) {
      this.#listener.onReply(id);
      if (isLast) this.#listener.onEnd(id);
    } else if (type === RST_STREAM) this.#listener.onReset(id);
    else if (type === PING) this.#listener.onPing(Buffer.from(body));
    else if (type === GOAWAY) this.#listener.onGoAway();
  }
}

function tooLong(length: number): ClusterError {
  const message = `the API server sent a SPDY control frame of ${length} bytes`;
  const next = 'check for a proxy in front of the API server that changes WebSockets';
  return new ClusterError('CLUSTER_MALFORMED', message, { next });
}
