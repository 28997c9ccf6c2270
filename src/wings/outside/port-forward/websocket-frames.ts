import { ClusterError } from '../../../cluster/cluster-error.ts';

/** Opcodes of RFC 6455, section 5.2. */
const CONTINUATION = 0;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const FINAL = 0x80;
const MASKED = 0x80;
const MASK_BYTES = 4;
const SHORT_LENGTH = 126;
const LONG_LENGTH = 127;
const MOST_CONTROL_BYTES = 125;

/**
 * The head of a binary message. A client must mask what it sends; the mask is zero, which leaves
 * the bytes as they are: masks protect caches between the two, and no cache reads this connection.
 */
export function messageHead(length: number): Buffer {
  return frameHead(BINARY, length);
}

export function pong(payload: Buffer): Buffer {
  return Buffer.concat([frameHead(PONG, payload.length), payload]);
}

export function closeFrame(): Buffer {
  const normalClosure = Buffer.from([0x03, 0xe8]);
  return Buffer.concat([frameHead(CLOSE, normalClosure.length), normalClosure]);
}

function frameHead(opcode: number, length: number): Buffer {
  const lengthBytes = length < SHORT_LENGTH ? 0 : length < 2 ** 16 ? 2 : 8;
  const head = Buffer.alloc(2 + lengthBytes + MASK_BYTES);
  head[0] = FINAL | opcode;
  head[1] = MASKED | (lengthBytes === 0 ? length : lengthBytes === 2 ? SHORT_LENGTH : LONG_LENGTH);
  if (lengthBytes === 2) head.writeUInt16BE(length, 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

export interface WebSocketListener {
  /** A part of a binary message, as long as it arrived. Frames and messages have no meaning here. */
  onBytes(bytes: Buffer): void;
  onPing(payload: Buffer): void;
  onClose(): void;
}

/** Reads what a WebSocket server sends, in chunks of any size; keeps heads and control frames only. */
export class WebSocketReader {
  readonly #listener: WebSocketListener;
  #head = Buffer.alloc(0);
  #opcode = BINARY;
  #leftBytes = 0;
  #control: Buffer[] = [];

  constructor(listener: WebSocketListener) {
    this.#listener = listener;
  }

  /** Throws ClusterError for bytes that no WebSocket server sends. */
  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#leftBytes === 0) {
        const taken = this.#readHead(rest);
        rest = rest.subarray(taken);
        if (this.#leftBytes === 0) continue;
      }
      const part = rest.subarray(0, this.#leftBytes);
      rest = rest.subarray(part.length);
      this.#leftBytes -= part.length;
      if (part.length > 0) this.#take(part);
    }
  }

  /** Bytes of `chunk` that belong to the head; the rest is its payload. */
  #readHead(chunk: Buffer): number {
    const before = this.#head.length;
    const bytes = before === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const length = readLength(bytes);
    if (length === undefined) {
      this.#head = Buffer.from(bytes);
      return chunk.length;
    }
    this.#head = Buffer.alloc(0);
    this.#begin(bytes[0] ?? 0, length.payloadBytes);
    return length.headBytes - before;
  }

  #begin(first: number, payloadBytes: number): void {
    this.#opcode = first & 0x0f;
    this.#leftBytes = payloadBytes;
    if ((first & 0x70) !== 0) throw malformed('reserved bits');
    const isData = this.#opcode === BINARY || this.#opcode === CONTINUATION;
    const isControl = [CLOSE, PING, PONG].includes(this.#opcode);
    if (!isData && !isControl) throw malformed(`opcode ${this.#opcode}`);
    if (isControl && (payloadBytes > MOST_CONTROL_BYTES || (first & FINAL) === 0)) {
      throw malformed('a control frame that is too long or fragmented');
    }
    if (isControl && payloadBytes === 0) this.#endControl();
  }

  #take(part: Buffer): void {
    if (this.#opcode === BINARY || this.#opcode === CONTINUATION) {
      this.#listener.onBytes(part);
      return;
    }
    this.#control.push(Buffer.from(part));
    if (this.#leftBytes === 0) this.#endControl();
  }

  #endControl(): void {
    const payload = Buffer.concat(this.#control);
    this.#control = [];
    if (this.#opcode === PING) this.#listener.onPing(payload);
    else if (this.#opcode === CLOSE) this.#listener.onClose();
  }
}

/** Undefined: the head is not complete. */
function readLength(bytes: Buffer): { headBytes: number; payloadBytes: number } | undefined {
  if (bytes.length < 2) return undefined;
  const second = bytes[1] ?? 0;
  if ((second & MASKED) !== 0) throw malformed('a masked frame');
  if (second < SHORT_LENGTH) return { headBytes: 2, payloadBytes: second };
  if (second === SHORT_LENGTH) {
    return bytes.length < 4 ? undefined : { headBytes: 4, payloadBytes: bytes.readUInt16BE(2) };
  }
  if (bytes.length < 10) return undefined;
  const long = bytes.readBigUInt64BE(2);
  if (long > BigInt(Number.MAX_SAFE_INTEGER)) throw malformed('a length beyond 2^53');
  return { headBytes: 10, payloadBytes: Number(long) };
}

function malformed(what: string): ClusterError {
  return new ClusterError('CLUSTER_MALFORMED', `the WebSocket of the API server has ${what}`, {
    next: 'check for a proxy in front of the API server that changes WebSockets',
  });
}
