/**
 * User data: bytes that the kernel stores with an object, in which `nft` keeps comments and the
 * meaning of keys. A list of type, length and value, with one byte for each of the first two. Kept
 * as strings of one character per byte, like all small binary data here.
 */
export type Binary = string;

/** Longest comment of `nft`. A longer one makes `nft list` fail. */
const LONGEST_COMMENT_BYTES = 127;

export function udata(type: number, value: Binary): Binary {
  return String.fromCharCode(type, value.length) + value;
}

/** A number in the byte order of the machine. */
export function u32(value: number): Binary {
  return String.fromCharCode(
    value & 0xff,
    (value >>> 8) & 0xff,
    (value >>> 16) & 0xff,
    (value >>> 24) & 0xff,
  );
}

/** A comment of the given type; cut where `nft` would not take it. */
export function commentUdata(type: number, text: string): Binary {
  if (isShortAscii(text)) return udata(type, `${text}\0`);
  return udata(type, `${Buffer.from(shortened(text), 'utf8').toString('latin1')}\0`);
}

/** As nearly every name is: a letter is a byte, and no buffer is needed to see it. */
function isShortAscii(text: string): boolean {
  if (text.length > LONGEST_COMMENT_BYTES) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

export function shortened(text: string): string {
  if (Buffer.byteLength(text) <= LONGEST_COMMENT_BYTES) return text;
  const cut = Buffer.from(text, 'utf8').subarray(0, LONGEST_COMMENT_BYTES - 3);
  // The cut may be inside a multi-byte character: drop the rest of it too.
  return `${cut.toString('utf8').replace(/\uFFFD+$/, '')}...`;
}

/** The value of the first entry of a type. */
export function readUdata(bytes: Buffer | undefined, type: number): Buffer | undefined {
  if (bytes === undefined) return undefined;
  for (let at = 0; at + 2 <= bytes.length; ) {
    const length = bytes[at + 1] ?? 0;
    if (bytes[at] === type) return bytes.subarray(at + 2, at + 2 + length);
    at += 2 + length;
  }
  return undefined;
}
