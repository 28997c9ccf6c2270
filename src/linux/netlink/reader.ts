const HEADER_BYTES = 16;
const ATTRIBUTE_HEADER_BYTES = 4;
/** Without the flag bits for `nested` and `network byte order`. */
const TYPE_MASK = 0x3fff;

/** One message as it came; `body` is what follows the header, and is only lent. */
export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  /** Port id of the sender or of the process that made the change; 0: the kernel. */
  readonly portId: number;
  readonly body: Buffer;
}

/**
 * Splits a received buffer into messages; stops at an invalid length. Messages of the port to skip
 * cost next to nothing.
 */
export function* readMessages(
  bytes: Buffer,
  isSkipped?: (portId: number) => boolean,
): Generator<NetlinkMessage> {
  let at = 0;
  while (at + HEADER_BYTES <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    if (length < HEADER_BYTES || at + length > bytes.length) return;
    const portId = bytes.readUInt32LE(at + 12);
    if (!isSkipped?.(portId)) {
      yield {
        type: bytes.readUInt16LE(at + 4),
        flags: bytes.readUInt16LE(at + 6),
        sequence: bytes.readUInt32LE(at + 8),
        portId,
        body: bytes.subarray(at + HEADER_BYTES, at + length),
      };
    }
    at += (length + 3) & ~3;
  }
}

/** The attributes of a message or of a nest, by type; the last of several of one type. */
export type Attributes = ReadonlyMap<number, Buffer>;

export function readAttributes(bytes: Buffer): Attributes {
  const attributes = new Map<number, Buffer>();
  for (const { type, value } of eachAttribute(bytes)) attributes.set(type, value);
  return attributes;
}

/** Finds one attribute without decoding the others. */
export function findAttribute(bytes: Buffer, type: number): Buffer | undefined {
  for (let at = 0; at + ATTRIBUTE_HEADER_BYTES <= bytes.length; ) {
    const length = bytes.readUInt16LE(at);
    if (length < ATTRIBUTE_HEADER_BYTES || at + length > bytes.length) return undefined;
    if ((bytes.readUInt16LE(at + 2) & TYPE_MASK) === type) {
      return bytes.subarray(at + ATTRIBUTE_HEADER_BYTES, at + length);
    }
    at += (length + 3) & ~3;
  }
  return undefined;
}

/** For lists, where one type comes again and again. */
export function* eachAttribute(bytes: Buffer): Generator<{ type: number; value: Buffer }> {
  let at = 0;
  while (at + ATTRIBUTE_HEADER_BYTES <= bytes.length) {
    const length = bytes.readUInt16LE(at);
    if (length < ATTRIBUTE_HEADER_BYTES || at + length > bytes.length) return;
    const value = bytes.subarray(at + ATTRIBUTE_HEADER_BYTES, at + length);
    yield { type: bytes.readUInt16LE(at + 2) & TYPE_MASK, value };
    at += (length + 3) & ~3;
  }
}

/** Text up to its zero. */
export function textOf(value: Buffer | undefined): string {
  if (value === undefined) return '';
  const end = value.indexOf(0);
  return value.toString('utf8', 0, end < 0 ? value.length : end);
}

/** A number of 32 bits in the byte order of the machine; undefined where there is none. */
export function numberOf(value: Buffer | undefined): number | undefined {
  return value === undefined || value.length < 4 ? undefined : value.readUInt32LE(0);
}
